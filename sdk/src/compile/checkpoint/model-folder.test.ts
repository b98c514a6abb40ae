import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import type { Tensor } from "../graph/tensor.ts";
import { readWeights } from "./model-folder.ts";

const MEBIBYTE = 1 << 20;
const numbers = Float32Array.from({ length: 4 * MEBIBYTE }, (_, i) => i);

async function example(): Promise<string> {
  const folder = await temporaryFolder();
  const shape = [4096, numbers.length / 4096];
  await writeFile(join(folder, "model.safetensors"), safetensorsFile({ word: float32Tensor(shape, numbers) }));
  return folder;
}

describe("readWeights", () => {
  it("leaves weights in their file until they are used", async () => {
    const folder = await example();
    const before = process.memoryUsage().arrayBuffers;
    const weights = readWeights(folder);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MEBIBYTE);
    expect(Buffer.compare((weights.get("word") as Tensor).data, new Uint8Array(numbers.buffer))).toBe(0);
  });

  it("refuses to use weights of a file that has changed since", async () => {
    const folder = await example();
    const weights = readWeights(folder);
    await appendFile(join(folder, "model.safetensors"), "x");
    expect(refusal(() => weights.get("word")?.data)).toBe("file_changed");
  });
});
