import { execFileSync } from "node:child_process";
import { cpus } from "node:os";

const last = cpus().length - 1;

/** CPU cores of the edge, as `taskset` lists them. */
export const EDGE_CORES = "0";

/** All cores but the edge's, and one for the load generator where there are enough. */
export const REGION_CORES = last > 1 ? `1-${last - 1}` : "1";

/**
 * Whether the tiers have cores of their own, as deployed tiers have machines of their own. Otherwise, without `taskset` or on
 * one core, the work of one tier slows the other.
 */
export const separateCores = last > 0 && hasTaskset();

/** Runs `start`. The processes that it starts use only the given cores. */
export async function onCores<T>(cores: string, start: () => Promise<T>): Promise<T> {
  if (!separateCores) return start();
  // A new process inherits the cores of the thread that starts it.
  useCores(cores);
  try {
    return await start();
  } finally {
    useCores(`0-${last}`);
  }
}

const useCores = (cores: string) => execFileSync("taskset", ["-cp", cores, `${process.pid}`], { stdio: "ignore" });

function hasTaskset(): boolean {
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
