import { appendFile, mkdir, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { bytesOf, LARGE_BYTES, partOf, storedFile } from "./stored-file.ts";

const bytes = Uint8Array.from({ length: 3 * LARGE_BYTES }, (_, i) => i % 251);

async function example() {
  const path = join(await temporaryFolder(), "weights.bin");
  await writeFile(path, bytes);
  return path;
}

describe("storedFile", () => {
  it("reads any part of a file, like `subarray` of bytes in memory", async () => {
    const file = storedFile(await example());
    expect(file.length).toBe(bytes.length);
    const parts = [
      [0, 0],
      [0, bytes.length],
      [1, 8],
      [LARGE_BYTES - 1, 2 * LARGE_BYTES + 5],
      [bytes.length - 1, bytes.length],
    ];
    for (const [begin = 0, end] of parts) expect(file.subarray(begin, end ?? 0)).toEqual(bytes.subarray(begin, end));
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ["made longer", (path) => appendFile(path, "x")],
    ["made shorter", (path) => truncate(path, LARGE_BYTES)],
    ["emptied", (path) => writeFile(path, "")],
    ["written again", (path) => utimes(path, 1, 1)],
    ["deleted", (path) => rm(path)],
    ["replaced by a folder", (path) => rm(path).then(() => mkdir(path))],
  ])("refuses to read a file that was %s, and names it", async (_, change) => {
    const path = await example();
    const file = storedFile(path);
    await change(path);
    expect(refusal(() => file.subarray(0, 1))).toBe("file_changed");
    expect(() => file.subarray(0, 1)).toThrow(path);
  });

  it("refuses a folder and a missing file", async () => {
    const folder = await temporaryFolder();
    expect(() => storedFile(folder)).toThrow("is a folder, not a file");
    expect(() => storedFile(join(folder, "none"))).toThrow("ENOENT");
  });
});

describe("partOf", () => {
  it("keeps a small part in memory, and reads a large part at each use", async () => {
    const path = await example();
    const file = storedFile(path);
    const [little, much] = [partOf(file, 7, 7 + LARGE_BYTES - 1), partOf(file, 7, 7 + LARGE_BYTES)];
    expect([little.length, much.length]).toEqual([LARGE_BYTES - 1, LARGE_BYTES]);
    expect(bytesOf(much)).toEqual(bytes.subarray(7, 7 + LARGE_BYTES));
    await rm(path);
    expect(bytesOf(little)).toEqual(bytes.subarray(7, 7 + LARGE_BYTES - 1));
    expect(refusal(() => bytesOf(much))).toBe("file_changed");
  });
});
