import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cleanEnv } from "../e2e/clean-env.ts";

const exec = promisify(execFile);
const DEADLINE_MS = 50_000;

/** Node's modules for files, which Deno and Bun have too. */
const script = (expression: string) => `
  import { readFile } from "node:fs/promises";
  import { compiled, digests } from "./digests.mjs";

  const read = async (file) => new Uint8Array(await readFile(new URL(file, import.meta.url)));
  console.log(JSON.stringify(await ${expression}));`;

/**
 * What an expression is in a process of another runtime.
 *
 * @param command which is given the script to run
 * @param expression may use `read`, `compiled` and `digests`
 */
export async function inProcess(
  [program = "", ...args]: readonly string[],
  folder: string,
  expression: string,
): Promise<unknown> {
  const path = join(folder, "process.mjs");
  await writeFile(path, script(expression));
  const env = { ...cleanEnv, DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1", BUN_INSTALL: folder };
  const { stdout } = await exec(program, [...args, path], { cwd: folder, env, timeout: DEADLINE_MS });
  return JSON.parse(stdout);
}
