import { appendFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { overwriteEnd } from "#test/fixtures/overwrite-end.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import type { BertEdgeError } from "../../artifact/error.ts";
import type { Tensor } from "../graph/tensor.ts";
import { readWeights } from "./model-folder.ts";

const numbers = Float32Array.from({ length: 1 << 16 }, (_, i) => i);

async function example(): Promise<string> {
  const folder = await temporaryFolder();
  const shape = [256, numbers.length / 256];
  await writeFile(join(folder, "model.safetensors"), safetensorsFile({ word: float32Tensor(shape, numbers) }));
  return folder;
}

function hintOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as BertEdgeError).hint ?? "";
  }
  return "";
}

describe("readWeights", () => {
  it("reads weights from the file only when they are used", async () => {
    const folder = await example();
    const file = join(folder, "model.safetensors");
    await utimes(file, 1, 1);
    const weights = readWeights(folder);
    expect(Buffer.compare((weights.get("word") as Tensor).data, new Uint8Array(numbers.buffer))).toBe(0);
    // The file keeps its old modification time, so the change is not noticed.
    await overwriteEnd(file, Uint8Array.of(1, 2, 3, 4));
    await utimes(file, 1, 1);
    expect((weights.get("word") as Tensor).data.subarray(-4)).toEqual(Uint8Array.of(1, 2, 3, 4));
  });

  it.each([
    [
      "the class that config.json names",
      '{"architectures":["BertForSequenceClassification"]}',
      /BertForSequenceClassif/,
    ],
    ["the general class", "{}", /AutoModel/],
  ])("tells how to save PyTorch's weights again, with %s", async (_, config, name) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "pytorch_model.bin"), "x");
    await writeFile(join(folder, "config.json"), config);
    const [, first, second] = hintOf(() => readWeights(folder)).split("\n");
    expect(first).toMatch(new RegExp(`^ {4}from transformers import ${name.source}`));
    expect(second).toMatch(new RegExp(`${name.source}\\w*\\.from_pretrained\\("${folder}"\\)\\.save_pretrained`));
  });

  it("refuses weights from a file that has changed since it was opened", async () => {
    const folder = await example();
    const weights = readWeights(folder);
    await appendFile(join(folder, "model.safetensors"), "x");
    expect(refusal(() => weights.get("word")?.data)).toBe("file_changed");
  });
});
