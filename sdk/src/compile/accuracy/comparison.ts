import type { SubprocessOptions } from "../subprocess/run-in-subprocess.ts";

/**
 * Subprocess options for comparisons of two models. Comparing models up to 2 GB takes only seconds, so the
 * deadline stops only a comparison that hangs.
 */
export const COMPARISON: SubprocessOptions = {
  failure: "parity_failed",
  what: "The models could not be compared",
  deadlineMs: 10 * 60_000,
};
