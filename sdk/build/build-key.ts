import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { contentKey, folderKey } from "../src/compile/stages/content-key.ts";

/** Folders and files that a build reads. */
const FOLDERS = ["build", "page", "src", "../models"];
const FILES = ["package.json", "tsconfig.json", "../tsconfig.base.json", "../package-lock.json"];
/** Tests and weights are not part of a build. */
const isRead = (path: string) => !/\.test(-d)?\.ts$|\/models\/[^/]+\//.test(path);

const KEPT = "../node_modules/.cache/bert-edge-build";

/** Hashes what a build reads and what it has written. Undefined if nothing is built. */
async function buildKey(): Promise<string | undefined> {
  if (!existsSync("dist")) return undefined;
  const folders = await Promise.all(FOLDERS.map((folder) => folderKey(folder, isRead)));
  const files = await Promise.all(FILES.map((file) => readFile(file, "utf8")));
  return contentKey("build", folders, files, process.version, await folderKey("dist"));
}

/** Whether `dist` is what a build of these sources has written. */
export const isBuilt = async (): Promise<boolean> =>
  (await readFile(KEPT, "utf8").catch(() => "")) === ((await buildKey()) ?? "nothing");

/** Remembers that `dist` is built. */
export async function rememberBuild(): Promise<void> {
  await mkdir(dirname(KEPT), { recursive: true });
  await writeFile(KEPT, (await buildKey()) ?? "");
}
