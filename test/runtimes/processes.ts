import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cleanEnv } from "../e2e/clean-env.ts";

const exec = promisify(execFile);
const DEADLINE_MS = 50_000;

/** Uses Node's file module, which Deno and Bun also have. */
const script = (expression: string) => `
  import { readFile } from "node:fs/promises";
  import { compiled, digests } from "./digests.mjs";

  const read = async (file) => new Uint8Array(await readFile(new URL(file, import.meta.url)));
  console.log(JSON.stringify(await ${expression}));`;

/**
 * Evaluates an expression in a process of another runtime.
 *
 * @param command receives the path of the script as its last argument
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
