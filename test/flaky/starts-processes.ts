import { readFileSync } from "node:fs";
import { join } from "node:path";
import { closureOf, testFiles } from "../structure/test-closure.ts";

/** Imports of what starts a process, a thread or a server. */
const STARTS =
  /"(?:node:(?:child_process|http|https|net|worker_threads)|miniflare|@hono\/node-server|@20minutes\/s3rver)"/;

/** Lists the test files that start a process or a server: in their own code, or in the product's files that they import. */
export const startsProcesses = (root: string): string[] =>
  testFiles(root).filter((test) => {
    const { own, product } = closureOf(root, test);
    return [...own, ...product].some((path) => STARTS.test(readFileSync(join(root, path), "utf8")));
  });
