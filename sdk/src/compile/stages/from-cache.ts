import { codeKey } from "./code-key.ts";
import { contentKey } from "./content-key.ts";
import type { Stage, StageContext, StageName, StageRun } from "./stage.ts";
import type { StageCache } from "./stage-cache.ts";

export interface KeptWork<T> {
  /** The stage that a kept result is reported as. */
  readonly stage: StageName;
  /** What the work is for, such as "edge". */
  readonly label: string;
  /** Hashes everything that determines the result, except for the code. */
  readonly key: () => Promise<string>;
  /** Runs the stages that compute the result. */
  readonly work: () => Promise<T>;
}

/** Returns the kept result of some stages, or runs the stages and keeps their result. Without a cache, only runs them. */
export async function fromCache<T extends object>(
  run: StageRun["run"],
  cache: StageCache | undefined,
  { folder }: Pick<StageContext, "folder">,
  { stage, label, key, work }: KeptWork<T>,
): Promise<T> {
  if (!cache) return work();
  const id = contentKey("kept", label, await key(), await codeKey());
  const kept = await cache.find<T>(id, folder);
  if (kept) return run(reuse<T>(stage, label), kept);
  const result = await work();
  await cache.keep(id, result);
  return result;
}

/** A stage that reports a kept result. */
const reuse = <T>(name: StageName, label: string): Stage<T, T> => ({
  name,
  describe: () => `${label}: unchanged since an earlier run`,
  run: async (result) => result,
  report: () => ({ kept: true }),
});
