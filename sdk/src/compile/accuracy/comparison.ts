import type { Errand } from "../isolate/in-child.ts";

/** Models of the size that fits a single file take seconds. */
export const COMPARISON: Errand = {
  failure: "parity_failed",
  what: "The models could not be compared",
  deadlineMs: 10 * 60_000,
};
