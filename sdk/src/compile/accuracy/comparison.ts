import type { SubprocessOptions } from "../subprocess/run-in-subprocess.ts";

/** Comparing models that fit in one file takes seconds. */
export const COMPARISON: SubprocessOptions = {
  failure: "parity_failed",
  what: "The models could not be compared",
  deadlineMs: 10 * 60_000,
};
