import { execFile, spawn } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { artifactFiles } from "#sdk/compile/pack/write-artifact.ts";
import { writePackageFolder } from "../../create-bert-edge/build/package-folder.ts";
import { cleanEnv } from "../e2e/clean-env.ts";
import { smallArtifact } from "../fixtures/small-artifact.ts";

const exec = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** Time limit for one line of output in an interactive run. */
const PROMPT_MS = 20_000;

/** The result of a command. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

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

/** Runs a command without a terminal. */
export async function runIn(
  folder: string,
  command: readonly [program: string, ...args: string[]],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const [program, ...args] = command;
  return exec(program, args, { cwd: folder, env: { ...cleanEnv, ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Outcome) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
  );
}

/** Gives a generated project the packages of this repository, without a registry. */
export const linkPackages = (project: string): Promise<void> =>
  symlink(join(root, "node_modules"), join(project, "node_modules"));

/** Returns the reason why interactive runs cannot be tested here; undefined if they can. */
export const noTerminal = async (): Promise<string | undefined> => {
  const { stdout } = await runIn(root, ["script", "--version"]);
  return stdout?.includes("util-linux") ? undefined : "script from util-linux, which makes terminals, is not installed";
};

/**
 * Runs a command in a pseudo-terminal. Waits for each text to appear, and then types its keys.
 *
 * @param dialog pairs of a text to wait for and the keys to type
 */
export async function runInTerminal(
  folder: string,
  command: readonly string[],
  dialog: readonly (readonly [text: string, keys: string])[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; output: string }> {
  const child = spawn("script", ["-qec", `stty cols 120 rows 40; ${command.join(" ")}`, "/dev/null"], {
    cwd: folder,
    env: { ...cleanEnv, TERM: "xterm", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [output, seen] = ["", 0];
  let changed = () => {};
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    changed();
  });
  const exit = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  for (const [text, keys] of dialog) {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`"${text}" did not appear in:\n${output}`)), PROMPT_MS);
      changed = () => {
        const at = output.indexOf(text, seen);
        if (at < 0) return;
        seen = at + text.length;
        clearTimeout(timer);
        resolve();
      };
      changed();
    });
    child.stdin.write(keys);
  }
  return { code: await exit, output };
}
