import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { foundKeys, ledgers } from "./ledger.ts";

describe("foundKeys", () => {
  it("lists the keys of a folder's files, and what becomes of them", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "1_Pooling"));
    const files = {
      "config.json": { model_type: "bert", hidden_size: 8, use_cache: true, mood: "good" },
      "modules.json": [
        { idx: 0, path: "" },
        { path: "1_Pooling", type: "Pooling" },
      ],
      "1_Pooling/config.json": { include_prompt: false },
      "sentence_bert_config.json": { max_seq_length: 16, transformer_task: "fill-mask" },
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(content));
    const found = await foundKeys(folder);
    expect(Object.fromEntries(found.map(({ file, key, treatment }) => [`${file} ${key}`, treatment]))).toEqual({
      "config.json model_type": "obeyed",
      "config.json hidden_size": "obeyed",
      "config.json use_cache": "no-effect",
      "config.json mood": "unknown",
      "modules.json idx": "no-effect",
      "modules.json path": "obeyed",
      "modules.json type": "obeyed",
      "1_Pooling/config.json include_prompt": "obeyed",
      "sentence_bert_config.json max_seq_length": "obeyed",
      "sentence_bert_config.json transformer_task": "only",
    });
  });

  it("has one table for each file", () => {
    expect(new Set(ledgers.map(({ file }) => file)).size).toBe(ledgers.length);
  });
});
