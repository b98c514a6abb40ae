import { join } from "node:path";
import { expect, it } from "vitest";
import { readSources } from "#test/structure/imports.ts";
import { codeFolders } from "./code-key.ts";

it("hashes the folders of all files that `prepare` imports", () => {
  const files = new Map(readSources(join(import.meta.dirname, "../..")).map((file) => [file.path, file]));
  const reached = new Set(["compile/commands/prepare.ts"]);
  for (const path of reached) for (const next of files.get(path)?.imports ?? []) reached.add(next);
  const folders = new Set([...reached].map((path) => path.split("/")[0]));
  // The build adds the kernels, which are no sources.
  expect([...folders, "embedded"].sort()).toEqual(codeFolders);
});
