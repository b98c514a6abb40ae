import { mkdir, writeFile } from "node:fs/promises";
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

  it("refuses a folder with files, and a file", async () => {
    const folder = join(await temporaryFolder(), "api");
    await mkdir(folder);
    await writeFile(join(folder, "notes.txt"), "");
    expect(() => assertUsable(folder)).toThrow(
      expect.objectContaining({ code: "folder_occupied", message: expect.stringContaining("notes.txt") }),
    );
    await writeFile(join(folder, "file"), "");
    expect(() => assertUsable(join(folder, "file"))).toThrow(expect.objectContaining({ code: "folder_occupied" }));
  });
});
