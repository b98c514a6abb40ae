import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { assertWritableFolder } from "./folders.ts";

describe("assertWritableFolder", () => {
  it("accepts a folder and one that can be made, and leaves nothing behind", async () => {
    const folder = await temporaryFolder();
    for (const path of [folder, join(folder, "new/and/deep")]) await assertWritableFolder(path);
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses a path through a file, and names it", async () => {
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "x");
    for (const path of [file, join(file, "folder")]) {
      await expect(assertWritableFolder(path)).rejects.toMatchObject({
        code: "out_unwritable",
        message: `${file} cannot be written to.`,
        hint: expect.any(String),
      });
    }
  });

  // Root may write to every folder but these.
  it.runIf(process.platform === "linux")("refuses a folder in which nothing can be made", async () => {
    for (const path of ["/proc/new", "/proc/new/and/deep"]) {
      await expect(assertWritableFolder(path)).rejects.toMatchObject({ message: "/proc cannot be written to." });
    }
  });
});
