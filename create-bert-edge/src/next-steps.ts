import { relative } from "node:path";
import type { Choices } from "./choose.ts";
import { addDependency, runProgram, runScript, runScriptWith } from "./package-manager.ts";
import { modelName } from "./project.ts";

/** What to do after the files are written. */
export function nextSteps(choices: Choices, { installed }: { installed: boolean }): string {
  const { folder, name, model, region, packageManager: manager } = choices;
  const path = relative(process.cwd(), folder);
  const steps: (readonly [command: string, why: string])[] = [
    ...(path ? [[`cd ${path}`, ""] as const] : []),
    ...(installed ? [] : [[`${manager} install`, ""] as const]),
    ...(model === "own"
      ? [
          ...(region === "none" ? [[`${addDependency[manager]} onnxruntime-node`, "prepares models"] as const] : []),
          [
            `${runProgram[manager]} bert-edge prepare <folder> --name my-model --out models/${modelName(choices)}`,
            "prepares yours",
          ] as const,
        ]
      : []),
    [runScript(manager, "start"), "runs the API on this machine and prints a request to try"],
    [runScript(manager, "test"), "tests the Worker in workerd"],
    [runScriptWith(manager, "deploy", "--dry-run"), "bundles the Worker; without --dry-run, deploys it"],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, why]) => `  ${why ? `${command.padEnd(width)}  # ${why}` : command}`);
  return `\n${name} is ready. Next:\n\n${lines.join("\n")}\n\nREADME.md says how to call it, add a route and deploy it.`;
}
