import { performance } from "node:perf_hooks";
import { runIn } from "../scaffold/terminal.ts";

type Result = "ok" | "SKIPPED" | "FAILED";

/** Runs checks one after another, and prints one line for each: ok, SKIPPED or FAILED. */
export function checks() {
  const count = { ok: 0, SKIPPED: 0, FAILED: 0 } satisfies Record<Result, number>;
  const print = (result: Result, name: string, more: string) => {
    count[result]++;
    console.log(`${result.padEnd(8)} ${name}${more}`);
  };
  return {
    /** @returns what the check returned; undefined if it failed */
    async check<T>(name: string, run: () => Promise<T>): Promise<T | undefined> {
      const start = performance.now();
      try {
        const value = await run();
        print("ok", name, ` (${((performance.now() - start) / 1000).toFixed(1)} s)`);
        return value;
      } catch (error) {
        print("FAILED", name, `\n${indented(error instanceof Error ? error.message : String(error))}`);
        return undefined;
      }
    },
    skip(name: string, why: string): void {
      print("SKIPPED", name, `: ${why}`);
    },
    /** Prints the number of each, and makes the process fail if a check has failed. */
    finish(): void {
      console.log(`\n${count.ok} ok, ${count.SKIPPED} skipped, ${count.FAILED} failed`);
      if (count.FAILED > 0) process.exitCode = 1;
    },
  };
}

export type Checks = ReturnType<typeof checks>;

/** Runs a command and returns its standard output. @throws Error with all of its output if it fails */
export async function outputOf(
  folder: string,
  command: readonly [program: string, ...args: string[]],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { code, stdout, stderr } = await runIn(folder, command, env);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

/** @throws Error unless the command refuses its input, and its output contains the reason */
export async function refused(
  folder: string,
  command: readonly [program: string, ...args: string[]],
  env: NodeJS.ProcessEnv,
  reason: string,
): Promise<void> {
  const { code, stdout, stderr } = await runIn(folder, command, env);
  if (code === 0) throw new Error(`${command.join(" ")} accepted a file with an error in it.`);
  if (!`${stdout}${stderr}`.includes(reason))
    throw new Error(`${command.join(" ")} has another error:\n${stdout}${stderr}`);
}

const indented = (text: string): string => text.trimEnd().replace(/^/gm, "         ");
