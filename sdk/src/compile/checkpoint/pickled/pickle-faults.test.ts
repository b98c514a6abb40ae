import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { conversionOf, conversionOfTensors } from "./pickle-faults.ts";

describe("conversionOf", () => {
  it.each([
    ["BertForSequenceClassification", '{"architectures":["BertForSequenceClassification"]}', undefined],
    ["AutoModel", "{}", undefined],
    ["AutoModel", '{"architectures":["import os; os"]}', undefined],
    ["SentenceTransformer", "{}", "[]"],
  ])("saves a model with %s", async (model, config, modules) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "config.json"), config);
    if (modules) await writeFile(join(folder, "modules.json"), modules);
    const { command, to } = conversionOf(folder);
    expect(command).toMatch(
      new RegExp(`^python3 -c 'from \\w+ import .*\\b${model}( as M; )[^']*"${folder}"[^']*"${folder}"[^']*'$`),
    );
    expect(to).toBe(undefined);
  });

  it("saves nothing into the cache of the Hub", async () => {
    const folder = join(await temporaryFolder(), "models--org--encoder", "snapshots", "a".repeat(40));
    await mkdir(folder, { recursive: true });
    const { command, to } = conversionOf(folder);
    expect(to).toBe("./encoder");
    expect(command).toContain('save_pretrained("./encoder")');
  });
});

describe("conversionOfTensors", () => {
  it("saves model.safetensors beside the file", () => {
    const { command } = conversionOfTensors(join("it's", "pytorch_model.bin"), 'torch.load("x")');
    expect(command).toMatch(
      /^python3 -c '.*for k, v in torch\.load\("x"\)\.items\(\)}, "it'"'"'s\/model\.safetensors"\)'$/,
    );
  });
});
