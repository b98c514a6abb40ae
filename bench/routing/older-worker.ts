import { readFile } from "node:fs/promises";
import type { V4ModuleDefinition } from "miniflare";
import type { Context } from "./context.ts";

/** Returns the modules of this Worker, and of the older one with which it is compared. Both have the same kernels. */
export async function workersOf({ modules, options }: Context): Promise<Record<string, V4ModuleDefinition[]>> {
  if (!options.against) return { now: modules };
  const contents = await readFile(options.against, "utf8");
  const before = modules.map((module) => (module.type === "ESModule" ? { ...module, contents } : module));
  return { now: modules, before };
}
