/** Request: milliseconds that the caller can wait, whole or fractional. The edge sends the region what is left of it. */
export const BUDGET_HEADER = "x-latency-budget-ms";

/** Response: the tier that computed the answer, `edge` or `region`. */
export const TIER_HEADER = "x-bert-edge-tier";
/** Response: why that tier was chosen; see `Reason`. */
export const REASON_HEADER = "x-bert-edge-reason";
/** Response: predicted milliseconds of the chosen tier; absent when nothing is known yet. */
export const PREDICTED_HEADER = "x-bert-edge-predicted-ms";
/**
 * Response: milliseconds of the budget that were left when the answer was ready, negative when it was exceeded. Where the
 * clock stops during computation, as on deployed Workers, the predicted time is subtracted instead.
 */
export const REMAINING_HEADER = "x-latency-budget-remaining-ms";
/** Response: `name@version` of the model that answered. */
export const MODEL_HEADER = "x-bert-edge-model";
/** Response: the execution provider that computed: `wasm`, `cpu`, `cuda`, … */
export const PROVIDER_HEADER = "x-bert-edge-provider";

export type Tier = "edge" | "region";

/** Why a tier was chosen. */
export type Reason =
  /** The request has no budget, so the edge answers. */
  | "no-budget"
  /** The edge is expected to answer in time. */
  | "within-budget"
  /** Only the region is expected to answer in time. */
  | "edge-over-budget"
  /** Both tiers are expected to be late; this one is faster. */
  | "over-budget"
  /** The edge is still loading the model. */
  | "edge-cold"
  /** The edge would exceed its CPU limit. */
  | "edge-cpu-limit"
  /** The deployment has no other tier. */
  | "only-tier"
  /** The region was chosen, but it failed, was late, or serves another version. The edge answered. */
  | "region-down";
