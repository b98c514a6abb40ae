import { execFileSync } from "node:child_process";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { readJson } from "./json-file.ts";
import { wholeFile, wholeText, wholeTextSync } from "./whole-file.ts";

const readers = {
  wholeText,
  wholeTextSync: async (...file: Parameters<typeof wholeTextSync>) => wholeTextSync(...file),
};

describe.each(Object.entries(readers))("%s", (_, read) => {
  it("reads a file of up to the limit, and refuses a larger one with its size", async () => {
    const path = join(await temporaryFolder(), "a");
    for (const text of ["", "a", "äöü€😀", "x".repeat(700_000)]) {
      const bytes = new TextEncoder().encode(text).length;
      await writeFile(path, text);
      expect(await read(path, bytes)).toBe(text);
      if (bytes === 0) continue;
      await expect(read(path, bytes - 1)).rejects.toMatchObject({
        code: "file_too_large",
        message: `${path} has ${bytes} bytes, but only up to ${bytes - 1} bytes of it are read.`,
      });
    }
  });

  it("throws the errors of Node.js", async () => {
    const folder = await temporaryFolder();
    await expect(read(join(folder, "none"), 1)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(read(folder, 1e6)).rejects.toMatchObject({ code: "EISDIR" });
  });

  it.runIf(process.platform === "linux")("reads a pipe and stops at the limit, also of an endless device", async () => {
    const path = join(await temporaryFolder(), "pipe");
    execFileSync("mkfifo", [path]);
    // Opened for both, so that nobody waits for the other end.
    const pipe = await open(path, "r+");
    await pipe.write("ab".repeat(10));
    await expect(read(path, 10)).rejects.toMatchObject({
      code: "file_too_large",
      message: `${path} has more than 10 bytes, but only up to 10 bytes of it are read.`,
    });
    await pipe.close();
    await expect(read("/dev/zero", 1e6)).rejects.toMatchObject({ code: "file_too_large" });
    expect(await read("/proc/self/comm", 100)).toMatch(/^\S+\n$/);
  });
});

it("wholeFile returns the bytes of a file", async () => {
  const path = join(await temporaryFolder(), "a");
  const bytes = Uint8Array.from({ length: 600_000 }, (_, i) => i % 251);
  await writeFile(path, bytes);
  expect(new Uint8Array(await wholeFile(path, bytes.length))).toEqual(bytes);
});

it("the JSON of a model folder is refused before it is read, if it is larger than any sound one", async () => {
  const folder = await temporaryFolder();
  for (const [name, bytes] of [
    ["config.json", 60e6],
    ["tokenizer.json", 300e6],
  ] as const) {
    const file = await open(join(folder, name), "w");
    await file.truncate(bytes);
    await file.close();
    await expect(readJson(folder, name, v.unknown())).rejects.toMatchObject({
      code: "file_too_large",
      message: expect.stringContaining(`${join(folder, name)} has ${bytes} bytes`),
    });
  }
});
