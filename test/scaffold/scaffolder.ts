import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { artifactFiles } from "#sdk/compile/pack/write-artifact.ts";
import { writePackageFolder } from "../../create-bert-edge/build/package-folder.ts";
import { smallArtifact } from "../fixtures/small-artifact.ts";

const root = join(import.meta.dirname, "../..");

/** Builds the package create-bert-edge into a folder. Its model cannot be loaded unless `artifact` is a real one. */
export async function buildScaffolder(folder: string, artifact?: string): Promise<string> {
  const out = join(folder, "dist");
  const model = artifact ?? (await writeSmallArtifact(join(folder, "artifact")));
  await writePackageFolder(out, { edge: model, "edge+region": model });
  return join(out, "index.js");
}

async function writeSmallArtifact(folder: string): Promise<string> {
  await mkdir(folder);
  const artifact = await smallArtifact();
  const measurements = await artifact.measurements;
  for (const [name, bytes] of artifactFiles({ manifest: artifact.manifest, measurements, files: artifact.files })) {
    await writeFile(join(folder, name), bytes);
  }
  return folder;
}

/** Gives a generated project the packages of this repository, without a registry. */
export const linkPackages = (project: string): Promise<void> =>
  symlink(join(root, "node_modules"), join(project, "node_modules"));
