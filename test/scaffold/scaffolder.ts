import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { writePackageFolder } from "../../create-bert-edge/build/package-folder.ts";
import { writeSmallFolder } from "../fixtures/small-artifact.ts";

const root = join(import.meta.dirname, "../..");

/** Builds the package create-bert-edge into a folder. Its model cannot be loaded unless `artifact` is a real one. */
export async function buildScaffolder(folder: string, artifact?: string): Promise<string> {
  const out = join(folder, "dist");
  const model = artifact ?? join(folder, "artifact");
  if (artifact === undefined) await writeSmallFolder(model);
  await writePackageFolder(out, { edge: model, "edge+region": model });
  return join(out, "index.js");
}

/** Gives a generated project the packages of this repository, without a registry. */
export const linkPackages = (project: string): Promise<void> =>
  symlink(join(root, "node_modules"), join(project, "node_modules"));
