import { spawnSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { claimPartialFile } from "./download-file.ts";

const HASH = "ab".repeat(20);

it("gives two downloads of the same content different files", async () => {
  const folder = await temporaryFolder();
  const one = await claimPartialFile(folder, HASH);
  await writeFile(one.path, "one");
  const other = await claimPartialFile(folder, HASH);
  expect(other.path).not.toBe(one.path);
  expect(await readFile(one.path, "utf8")).toBe("one");
});

it("continues with the longest file that an ended process or a failed download left, and removes the others", async () => {
  const folder = await temporaryFolder();
  const { pid } = spawnSync(process.execPath, ["--version"]);
  await writeFile(join(folder, `${HASH}.${pid}-1.incomplete`), "of a killed process");
  const failed = await claimPartialFile(folder, "cd".repeat(20));
  await writeFile(failed.path, "another file");
  await writeFile(join(folder, `${HASH}.0-1.incomplete`), "short");
  const next = await claimPartialFile(folder, HASH);
  expect(await readFile(next.path, "utf8")).toBe("of a killed process");
  await next.release();
  expect(await readFile((await claimPartialFile(folder, HASH)).path, "utf8")).toBe("of a killed process");
  expect(await readdir(folder)).toHaveLength(2);
});
