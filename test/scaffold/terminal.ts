import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { cleanEnv } from "../e2e/clean-env.ts";

const exec = promisify(execFile);

/** Time limit for one line of output in an interactive run. */
const PROMPT_MS = 20_000;

/** The result of a command. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
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

/** Returns the reason why interactive runs cannot be tested here; undefined if they can. */
export const noTerminal = async (): Promise<string | undefined> => {
  const { stdout } = await runIn(".", ["script", "--version"]);
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
  let [output, seen] = ["", 0];
  let changed = () => {};
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    changed();
  });
  const exit = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  try {
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
  } finally {
    child.kill("SIGKILL");
  }
}
