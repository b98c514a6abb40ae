import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/fixtures/temporary-folder.ts";
import { assertUsable } from "./project-folder.ts";

describe("assertUsable", () => {
  it("accepts a new folder, an empty folder and a fresh Git repository", async () => {
    const folder = await temporaryFolder();
    const empty = join(folder, "empty");
    await mkdir(join(empty, ".git"), { recursive: true });
    expect(() => assertUsable(empty)).not.toThrow();
    expect(() => assertUsable(join(folder, "not/there-yet"))).not.toThrow();
  });

  it.each([
    ["My API", "my-api"],
    ["embeddings_v2", "embeddings-v2"],
    ["-api-", "api"],
    ["ä", "my-api"],
    ["a".repeat(57), "a".repeat(56)],
  ])('refuses the name "%s" and suggests "%s"', (name, suggestion) => {
    expect(() => assertUsable(name)).toThrow(
      expect.objectContaining({ code: "name_invalid", hint: expect.stringContaining(`"${suggestion}"`) }),
    );
  });

  it("refuses a folder with files, a file, and a folder in a file", async () => {
    const folder = join(await temporaryFolder(), "api");
    await mkdir(folder);
    await writeFile(join(folder, "notes.txt"), "");
    expect(() => assertUsable(folder)).toThrow(
      expect.objectContaining({ code: "folder_occupied", message: expect.stringContaining("notes.txt") }),
    );
    await writeFile(join(folder, "file"), "");
    for (const path of ["file", "file/api"]) {
      expect(() => assertUsable(join(folder, path))).toThrow(
        expect.objectContaining({ code: "folder_unusable", message: expect.stringContaining("ENOTDIR") }),
      );
    }
  });

  it("refuses a link to nothing, and a folder below it", async () => {
    const link = join(await temporaryFolder(), "link");
    await symlink(`${link}-target`, link);
    for (const path of [link, join(link, "api")]) {
      expect(() => assertUsable(path)).toThrow(
        expect.objectContaining({ code: "folder_unusable", message: expect.stringContaining("ENOENT") }),
      );
    }
  });

  // The superuser may write everywhere.
  it.skipIf(process.getuid?.() === 0)("refuses a folder in one that cannot be written to", async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o500);
    expect(() => assertUsable(join(folder, "new/api"))).toThrow(
      expect.objectContaining({ code: "folder_unusable", message: expect.stringContaining("EACCES") }),
    );
  });
});
