import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SECRETS } from "./files/secrets.ts";
import { modelName, type Project, templateOf } from "./project.ts";
import { projectFiles } from "./project-files.ts";

/** The folder of the bundle, where the build also puts the sources and the prepared model. */
const packaged = import.meta.dirname;

/** Reads one of the `sourcePaths` that projects have copies of. */
export const readSource = (path: string): string => readFileSync(join(packaged, "sources", path), "utf8");

/** Writes the files of a project, and its model. */
export function writeProject(folder: string, project: Project): void {
  for (const [path, content] of projectFiles(project, readSource)) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content, { mode: path === SECRETS ? 0o600 : 0o666 });
  }
  if (project.model === "embedded") writeModel(join(folder, "models", modelName(project)), project);
}

/** Copies the manifest and measurements of the template, and the files that the manifest lists. */
export function writeModel(target: string, project: Project): void {
  const model = join(packaged, "model");
  cpSync(join(model, templateOf(project)), target, { recursive: true });
  const { files } = JSON.parse(readFileSync(join(target, "manifest.json"), "utf8")) as { files: object };
  for (const file of Object.keys(files)) cpSync(join(model, "files", file), join(target, file));
}
