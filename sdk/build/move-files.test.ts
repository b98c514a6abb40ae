import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { moveFiles, removeOthers } from "./move-files.ts";

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

it("replaces changed files, leaves equal files alone, and removes files that are no longer built", async () => {
  const folder = await temporaryFolder();
  const [dist, draft] = [join(folder, "dist"), join(folder, "draft")];
  await write(dist, { "a.js": "old", "same.js": "same", "cli/gone.js": "gone" });
  await write(draft, { "a.js": "new", "same.js": "same", "cli/b.js": "b" });
  const { ino } = await stat(join(dist, "same.js"));

  const built = await moveFiles(draft, dist);
  await removeOthers(dist, built);

  expect(built.sort()).toEqual(["a.js", "cli/b.js", "same.js"]);
  expect(await readFile(join(dist, "a.js"), "utf8")).toBe("new");
  expect((await stat(join(dist, "same.js"))).ino).toBe(ino);
  expect(await readdir(join(dist, "cli"))).toEqual(["b.js"]);
});

it("never leaves a path without a file, or with half a file", async () => {
  const folder = await temporaryFolder();
  const [dist, draft] = [join(folder, "dist"), join(folder, "draft")];
  const names = Array.from({ length: 50 }, (_, i) => `${i}.js`);
  const texts = ["first", "second"].map((text) => text.repeat(20_000));
  const write = async (into: string, text = "") => {
    await mkdir(into, { recursive: true });
    for (const name of names) await writeFile(join(into, name), text);
  };
  await write(dist, texts[0]);
  await write(draft, texts[1]);
  let isMoving = true;
  const moving = moveFiles(draft, dist).finally(() => {
    isMoving = false;
  });
  const seen = new Set<string>();
  while (isMoving) {
    for (const text of await Promise.all(names.map((name) => readFile(join(dist, name), "utf8")))) seen.add(text);
  }
  await moving;
  expect([...seen].filter((text) => !texts.includes(text))).toEqual([]);
});
