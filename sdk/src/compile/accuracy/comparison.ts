import type { SubprocessOptions } from "../subprocess/run-in-subprocess.ts";

/** Subprocess options for comparisons of two models. A comparison takes seconds for models up to 2 GB. */
export const COMPARISON: SubprocessOptions = {
  failure: "parity_failed",
  what: "The models could not be compared",
  deadlineMs: 10 * 60_000,
};
