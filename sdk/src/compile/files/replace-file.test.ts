import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replaceFile } from "./replace-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-replace-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("replaceFile", () => {
  it("makes a file and its folder, replaces it, and leaves nothing else", async () => {
    const path = join(folder, "in", "a.json");
    await replaceFile(path, "one");
    await replaceFile(path, "two");
    expect(await readFile(path, "utf8")).toBe("two");
    expect(await readdir(join(folder, "in"))).toEqual(["a.json"]);
  });

  it("writes through no link, neither at the path nor at a name beside it", async () => {
    const [path, victim] = [join(folder, "a.json"), join(folder, "victim")];
    await writeFile(victim, "mine");
    for (const link of [path, `${path}.tmp`]) await symlink(victim, link);
    await replaceFile(path, "new");
    expect([await readFile(victim, "utf8"), await readFile(path, "utf8")]).toEqual(["mine", "new"]);
  });

  it("leaves no temporary file when it fails", async () => {
    await mkdir(join(folder, "a.json"));
    await expect(replaceFile(join(folder, "a.json"), "new")).rejects.toThrow();
    expect(await readdir(folder)).toEqual(["a.json"]);
  });
});
