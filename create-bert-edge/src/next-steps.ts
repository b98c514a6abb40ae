import { relative } from "node:path";
import type { Choices } from "./choose.ts";
import { addDependency, runScript, runScriptWith } from "./package-manager.ts";
import { prepareCommand } from "./prepare-command.ts";
import { modelName, type Project } from "./project.ts";
import { shellPath } from "./shell-path.ts";

/** A command, and what it does if that needs an explanation. */
type Step = readonly [command: string, what?: string];

/** Longer commands have their explanation on a line of its own. */
const MAX_ALIGNED = 40;

/** Returns what to do after the files are written. `installed`: whether the dependencies are there. */
export function nextSteps(choices: Choices, { installed }: { installed: boolean }): string {
  const { folder, name, model, packageManager: manager } = choices;
  const path = relative(process.cwd(), folder);
  const steps: Step[] = [
    [runScript(manager, "start"), "serves the model here, with a request to try"],
    [runScript(manager, "test"), "tests the Worker in workerd"],
    [runScriptWith(manager, "deploy", "--dry-run"), "bundles the Worker, uploads nothing"],
  ];
  if (model === "own") steps.unshift(...modelSteps(choices));
  if (!installed) steps.unshift([`${manager} install`]);
  if (path) steps.unshift([`cd ${shellPath(path)}`]);
  const isShort = ([command]: Step) => command.length <= MAX_ALIGNED;
  const width = Math.max(...steps.filter(isShort).map(([command]) => command.length));
  const lines = steps.map((step) => {
    const [command, what] = step;
    if (what === undefined) return `  ${command}`;
    return isShort(step) ? `  ${command.padEnd(width)}  # ${what}` : `  ${command}\n    # ${what}`;
  });
  return `\nThe project ${name} is written. Next:\n\n${lines.join("\n")}\n\nREADME.md says how to call it, add a route and deploy it.`;
}

function modelSteps(project: Project): Step[] {
  const { region, packageManager: manager } = project;
  const name = modelName(project);
  const prepare: Step = [prepareCommand(project, "<folder>", name), "prepares your model, a Hugging Face folder"];
  // A project with a region has onnxruntime-node already.
  return region === "none" ? [[`${addDependency[manager]} onnxruntime-node`], prepare] : [prepare];
}
