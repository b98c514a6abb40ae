import { appendFile, copyFile, mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { overwriteEnd } from "#test/fixtures/overwrite-end.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { pickled, torchFile } from "#test/fixtures/torch-file.ts";
import type { BertEdgeError } from "../../artifact/error.ts";
import { isLazy, type Tensor, toFloat32 } from "../graph/tensor.ts";
import { readWeights } from "./model-folder.ts";

const PICKLES = new URL("../../../../test/golden/pickles/", import.meta.url);
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

  const floats = (...numbers: number[]) => new Uint8Array(Float32Array.from(numbers).buffer);
  const pickledFile = (name: string, ...numbers: number[]) =>
    torchFile(pickled.file(pickled.dict({ [name]: pickled.tensor(pickled.storage("0", 2), [2], [1]) })), {
      0: floats(...numbers),
    });

  it("reads pytorch_model.bin if there are no safetensors", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "pytorch_model.bin"), pickledFile("bert.LayerNorm.gamma", 1, 2));
    const weights = readWeights(folder);
    expect([...weights.keys()]).toEqual(["bert.LayerNorm.weight"]);
    expect(toFloat32(weights.get("bert.LayerNorm.weight") as Tensor)).toEqual(Float32Array.of(1, 2));
    await writeFile(join(folder, "model.safetensors"), safetensorsFile({ other: float32Tensor([1], [3]) }));
    expect([...readWeights(folder).keys()]).toEqual(["other"]);
  });

  it("reads large pickled tensors only when they are used, and transposed ones too", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "pytorch_model.bin");
    const storage = pickled.storage("0", numbers.length);
    const [rows, columns] = [256, numbers.length / 256];
    const entries = { word: pickled.tensor(storage, [columns, rows], [1, columns]) };
    await writeFile(file, torchFile(pickled.file(pickled.dict(entries)), { 0: floats(...numbers) }));
    const word = readWeights(folder).get("word") as Tensor;
    expect(isLazy(word)).toBe(true);
    const expected = numbers.map((_, i) => (i % rows) * columns + Math.floor(i / rows));
    expect(Buffer.compare(word.data, new Uint8Array(expected.buffer))).toBe(0);
    await appendFile(file, "x");
    expect(refusal(() => word.data)).toBe("file_changed");
  });

  it("reads shards of pytorch_model.bin", async () => {
    const folder = await temporaryFolder();
    const files = { a: "pytorch_model-00001-of-00002.bin", b: "pytorch_model-00002-of-00002.bin" };
    await writeFile(join(folder, "pytorch_model.bin.index.json"), JSON.stringify({ weight_map: files }));
    await writeFile(join(folder, files.a), pickledFile("a", 1, 2));
    await writeFile(join(folder, files.b), pickledFile("b", 3, 4));
    const weights = readWeights(folder);
    expect([...weights.keys()]).toEqual(["a", "b"]);
    expect(toFloat32(weights.get("b") as Tensor)).toEqual(Float32Array.of(3, 4));
  });

  it("reads a module's pytorch_model.bin beside the model's safetensors", async () => {
    const folder = await example();
    await mkdir(join(folder, "2_Dense"));
    await writeFile(join(folder, "2_Dense", "pytorch_model.bin"), pickledFile("linear.weight", 1, 2));
    expect([...readWeights(folder, ["2_Dense"]).keys()]).toEqual(["word", "2_Dense/linear.weight"]);
  });

  it("tells the command that converts the whole model if a module's weights are not supported", async () => {
    const folder = await example();
    await mkdir(join(folder, "2_Dense"));
    await writeFile(join(folder, "modules.json"), "[]");
    await copyFile(new URL("before-1.6.bin", PICKLES), join(folder, "2_Dense", "pytorch_model.bin"));
    expect(hintOf(() => readWeights(folder, ["2_Dense"]))).toContain(`SentenceTransformer as M; M("${folder}")`);
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
