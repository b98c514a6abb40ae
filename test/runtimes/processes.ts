import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cleanEnv } from "../e2e/clean-env.ts";
import type { Digests } from "./digests.ts";

const exec = promisify(execFile);
const DEADLINE_MS = 50_000;

/** Node's modules for files, which Deno and Bun have too. */
const script = (engine: string) => `
  import { readFile } from "node:fs/promises";
  import { compiled, digests } from "./digests.mjs";

  const read = async (file) => new Uint8Array(await readFile(new URL(file, import.meta.url)));
  console.log(JSON.stringify(await digests(await compiled(read), read, ${engine})));`;

/**
 * @param command which is given the script to run
 * @param engine an expression, of what makes engines of kernels
 */
export async function digestsOfProcess(
  [program = "", ...args]: readonly string[],
  folder: string,
  engine: string,
): Promise<Digests> {
  const path = join(folder, "process.mjs");
  await writeFile(path, script(engine));
  const env = { ...cleanEnv, DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1", BUN_INSTALL: folder };
  const { stdout } = await exec(program, [...args, path], { cwd: folder, env, timeout: DEADLINE_MS });
  return JSON.parse(stdout) as Digests;
}
