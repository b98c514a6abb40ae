import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { folderKeys, ledgers } from "./ledger.ts";

const module = (kind: string, path: string) => ({ path, type: `sentence_transformers.models.${kind}` });

describe("folderKeys", () => {
  it("lists the keys of a folder's files, and what becomes of them", async () => {
    const folder = await folderWith({
      "config.json": { model_type: "bert", hidden_size: 8, use_cache: true, mood: "good", is_decoder: true },
      "modules.json": [{ ...module("Transformer", ""), idx: 0 }, module("Pooling", "1_Pooling")],
      "1_Pooling/config.json": { include_prompt: false, mood: 1 },
      "sentence_bert_config.json": { max_seq_length: 16, transformer_task: "fill-mask" },
    });
    const found = await folderKeys(folder);
    const treated = found.map(({ file, module, keys, counts }) => [
      ...[file, module, Object.fromEntries(keys.map(({ key, treatment }) => [key, treatment]))],
      Object.values(counts).join(" "),
    ]);
    expect(treated).toEqual([
      [
        "config.json",
        undefined,
        ...[
          {
            model_type: "obeyed",
            hidden_size: "obeyed",
            use_cache: "no-effect",
            mood: "unknown",
            is_decoder: "refused",
          },
        ],
        "2 1 1 1",
      ],
      ["modules.json", "modules.json", { idx: "no-effect", path: "obeyed", type: "obeyed" }, "2 1 0 0"],
      ["sentence_bert_config.json", "Transformer", { max_seq_length: "obeyed", transformer_task: "obeyed" }, "2 0 0 0"],
      ["1_Pooling/config.json", "1_Pooling", { include_prompt: "obeyed", mood: "unknown" }, "1 0 0 1"],
    ]);
  });

  it("looks into the folder of the Transformer module, and into modules with any name of their folder", async () => {
    const folder = await folderWith({
      "modules.json": [module("Transformer", "0_Transformer"), module("Dense", "a"), module("Normalize", "b")],
      "0_Transformer/config.json": { mood: 1 },
      "0_Transformer/tokenizer_config.json": { mood: 1 },
      "0_Transformer/sentence_bert_config.json": { mood: 1 },
      "config_sentence_transformers.json": { mood: 1 },
      "a/config.json": { mood: 1 },
      "b/config.json": { module_input_name: "token_embeddings" },
    });
    const found = await folderKeys(folder);
    expect(found.filter(({ counts }) => counts.unknown === 1).map(({ file, module }) => [file, module])).toEqual([
      ["0_Transformer/config.json", undefined],
      ["0_Transformer/tokenizer_config.json", undefined],
      ["0_Transformer/sentence_bert_config.json", "0_Transformer"],
      ["config_sentence_transformers.json", undefined],
      ["a/config.json", "a"],
    ]);
    expect(found.at(-1)?.keys).toEqual([{ key: "module_input_name", treatment: "obeyed" }]);
  });

  it("has one table for each file", () => {
    expect(new Set(ledgers.map(({ file }) => file)).size).toBe(ledgers.length);
  });
});
