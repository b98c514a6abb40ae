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

  it("throws the errors of Node.js, and refuses a folder", async () => {
    const folder = await temporaryFolder();
    await expect(read(join(folder, "none"), 1)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(read(folder, 1e6)).rejects.toThrow(`${folder} is a folder, not a file`);
  });

  it.runIf(process.platform === "linux")("refuses a pipe, to which nobody writes, and a device", async () => {
    const path = join(await temporaryFolder(), "pipe");
    execFileSync("mkfifo", [path]);
    await expect(read(path, 10)).rejects.toThrow(`${path} is a named pipe, not a file`);
    await expect(read("/dev/zero", 1e6)).rejects.toThrow("/dev/zero is a device, not a file");
  });

  it.runIf(process.platform === "linux")("stops at the limit of a file of unknown size", async () => {
    const path = "/proc/self/status";
    await expect(read(path, 10)).rejects.toMatchObject({
      code: "file_too_large",
      message: `${path} has more than 10 bytes, but only up to 10 bytes of it are read.`,
    });
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
