import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { describeFile } from "./describe-file.ts";
import { CHUNK_BYTES } from "./manifest.ts";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("describeFile", () => {
  it.each([0, 1, CHUNK_BYTES])("hashes a file of %d bytes once, because it is a single chunk", async (size) => {
    const bytes = new Uint8Array(size).fill(7);
    expect(await describeFile(bytes)).toEqual({ sha256: sha256(bytes), size });
  });

  it.each([
    { size: CHUNK_BYTES + 1, last: 1 },
    { size: 2 * CHUNK_BYTES, last: CHUNK_BYTES },
    { size: 2 * CHUNK_BYTES + 5, last: 5 },
  ])(
    "hashes a file of $size bytes as a whole and in chunks; the last chunk has $last bytes",
    async ({ size, last }) => {
      const bytes = Uint8Array.from({ length: size }, (_, i) => i % 251);
      const file = await describeFile(bytes);
      expect(file).toMatchObject({ sha256: sha256(bytes), size });
      expect(file.chunks).toHaveLength(Math.ceil(size / CHUNK_BYTES));
      expect(file.chunks?.[0]).toBe(sha256(bytes.subarray(0, CHUNK_BYTES)));
      expect(file.chunks?.at(-1)).toBe(sha256(bytes.subarray(size - last)));
    },
  );
});
