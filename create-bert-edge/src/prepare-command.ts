import { runProgram } from "./package-manager.ts";
import type { Project } from "./project.ts";

/** The command that prepares a model for the parts of a project. */
export function prepareCommand({ region, packageManager }: Project, folder: string, name: string): string {
  const targets = region === "none" ? "edge" : "edge,regional-cpu";
  return `${runProgram[packageManager]} bert-edge prepare ${folder} --name ${name} --targets ${targets} --out models/${name}`;
}
