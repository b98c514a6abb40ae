import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { float32Tensor, safetensorsFile, withHeader } from "#test/fixtures/safetensors-file.ts";
import { LARGE_BYTES, storedFile } from "../files/stored-file.ts";
import { float32Scalar, isLazy, type Tensor, toFloat32 } from "../graph/tensor.ts";
import { readTensors, WatchedTensors } from "./read-tensors.ts";

describe("readTensors", () => {
  it("reads float32, float16 and bfloat16 numbers from a file written by hand", () => {
    const header =
      '{"__metadata__":{"format":"pt"},' +
      '"full":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},' +
      '"half":{"dtype":"F16","shape":[1,3],"data_offsets":[8,14]},' +
      '"brain":{"dtype":"BF16","shape":[3,1],"data_offsets":[14,20]}}  ';
    // Little-endian: 1.5 and −2 in binary32; 1, −2 and the largest number, 65504, in binary16; 1, −2 and 2^127 in bfloat16.
    const full = [0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x00, 0xc0];
    const half = [0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b];
    const brain = [0x80, 0x3f, 0x00, 0xc0, 0x00, 0x7f];
    const tensors = readTensors(withHeader(header, Uint8Array.of(...full, ...half, ...brain)), "x");
    const read = Array.from(tensors, ([name, tensor]) => [name, tensor.shape, [...toFloat32(tensor)]]);
    expect(read).toEqual([
      ["full", [2], [1.5, -2]],
      ["half", [1, 3], [1, -2, 65504]],
      ["brain", [3, 1], [1, -2, 2 ** 127]],
    ]);
  });

  it("returns views of a file in memory", () => {
    const file = safetensorsFile({ word: float32Tensor([2], [1, 2]) });
    expect(readTensors(file, "x").get("word")?.data.buffer).toBe(file.buffer);
  });

  it("leaves large tensors of a stored file on disk", async () => {
    const folder = await mkdtemp(join(tmpdir(), "read-tensors-"));
    const path = join(folder, "model.safetensors");
    const count = LARGE_BYTES / 4;
    const values = Float32Array.from({ length: count }, (_, i) => i);
    await writeFile(path, safetensorsFile({ large: float32Tensor([count], values), small: float32Tensor([1], [7]) }));
    const tensors = readTensors(storedFile(path), path);
    const [large, small] = [tensors.get("large"), tensors.get("small")] as [Tensor, Tensor];
    expect([isLazy(large), isLazy(small)]).toEqual([true, false]);
    expect(toFloat32(large)).toEqual(values);
    expect([...toFloat32(small)]).toEqual([7]);
    await rm(folder, { recursive: true });
  });

  it("names a damaged file, and suggests what to do", () => {
    const pointer = new TextEncoder().encode("version https://git-lfs.github.com/spec/v1");
    expect(() => readTensors(pointer, "model.safetensors")).toThrow(
      expect.objectContaining({
        code: "safetensors_invalid",
        message: expect.stringMatching(/^model\.safetensors is not a valid safetensors file: its header claims/),
        hint: expect.stringContaining("Git LFS"),
      }),
    );
  });
});

it("WatchedTensors names the tensors that were not read, except those that change no result", () => {
  const names = ["b", "a", "read", "embeddings.position_ids", "bert.pooler.dense.weight", "my_pooler.weight"];
  const weights = new WatchedTensors(names.map((name) => [name, float32Scalar(1)]));
  expect(weights.get("read")).toEqual(float32Scalar(1));
  expect(weights.has("b")).toBe(true);
  expect(weights.unread).toEqual(["a", "b", "my_pooler.weight"]);
});
