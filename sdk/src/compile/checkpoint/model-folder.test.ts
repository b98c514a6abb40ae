import { appendFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { overwriteEnd } from "#test/fixtures/overwrite-end.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import type { BertEdgeError } from "../../artifact/error.ts";
import { type Tensor, toFloat32 } from "../graph/tensor.ts";
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
    ["BertForSequenceClassification", '{"architectures":["BertForSequenceClassification"]}', undefined],
    ["AutoModel", "{}", undefined],
    ["AutoModel", '{"architectures":["import os; os"]}', undefined],
    ["SentenceTransformer", "{}", "[]"],
  ])("tells the command that converts PyTorch's weights with %s", async (model, config, modules) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "pytorch_model.bin"), "x");
    await writeFile(join(folder, "config.json"), config);
    if (modules) await writeFile(join(folder, "modules.json"), modules);
    const [, command] = hintOf(() => readWeights(folder)).split("\n");
    expect(command).toMatch(
      new RegExp(`^ {4}python3 -c 'from \\w+ import .*\\b${model}( as M; )[^']*"${folder}"[^']*'$`),
    );
  });

  it("reads shards, and tensors of half precision in them", async () => {
    const folder = await temporaryFolder();
    const half = { dtype: "BF16", shape: [2], data: Uint8Array.of(0x80, 0x3f, 0, 0xc0) } as const;
    const files = { a: "model-00001-of-00002.safetensors", b: "model-00002-of-00002.safetensors" };
    await writeFile(join(folder, "model.safetensors.index.json"), JSON.stringify({ weight_map: files }));
    await writeFile(
      join(folder, files.a),
      safetensorsFile({ a: float32Tensor([1], [3]), unused: float32Tensor([1], [4]) }),
    );
    await writeFile(join(folder, files.b), safetensorsFile({ b: half }));
    const weights = readWeights(folder);
    expect([...weights.keys()]).toEqual(["a", "b"]);
    expect(toFloat32(weights.get("a") as Tensor)).toEqual(Float32Array.of(3));
    expect(toFloat32(weights.get("b") as Tensor)).toEqual(Float32Array.of(1, -2));
  });

  it.each([
    ["a shard without the tensor", { a: "other.safetensors" }, "checkpoint_invalid"],
    ["a shard that does not exist", { a: "none.safetensors" }, "checkpoint_missing"],
    ["a shard outside of the folder", { a: "../other.safetensors" }, "checkpoint_invalid"],
  ])("refuses an index with %s", async (_, weight_map, code) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "model.safetensors.index.json"), JSON.stringify({ weight_map }));
    await writeFile(join(folder, "other.safetensors"), safetensorsFile({ b: float32Tensor([1], [3]) }));
    expect(refusal(() => readWeights(folder))).toBe(code);
  });

  it("reads layer normalizations that have the names of TensorFlow", async () => {
    const folder = await temporaryFolder();
    const [gain, shift] = [float32Tensor([2], [1, 2]), float32Tensor([2], [3, 4])];
    const stored = { "bert.LayerNorm.gamma": gain, "bert.LayerNorm.beta": shift, gamma: gain };
    await writeFile(join(folder, "model.safetensors"), safetensorsFile(stored));
    const weights = readWeights(folder);
    expect([...weights.keys()].sort()).toEqual(["bert.LayerNorm.bias", "bert.LayerNorm.weight", "gamma"]);
    expect([...toFloat32(weights.get("bert.LayerNorm.weight") as Tensor)]).toEqual([1, 2]);
  });

  it("refuses weights from a file that has changed since it was opened", async () => {
    const folder = await example();
    const weights = readWeights(folder);
    await appendFile(join(folder, "model.safetensors"), "x");
    expect(refusal(() => weights.get("word")?.data)).toBe("file_changed");
  });
});
