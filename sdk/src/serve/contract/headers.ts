/** Request: milliseconds that the caller can wait; with `none`, no default applies. The region gets the remaining time. */
export const BUDGET_HEADER = "x-latency-budget-ms";

/** Request: the only tier that may answer; `auto` leaves the choice to the deployment. Response: the tier that computed. */
export const TIER_HEADER = "x-bert-edge-tier";
/** Response: the figures behind the decision, as a dictionary of RFC 8941. Times are in milliseconds. */
export const DECISION_HEADER = "x-bert-edge-decision";
/** Response of a region: predicted milliseconds that a new request would wait for its turn. */
export const QUEUE_HEADER = "x-bert-edge-queue-ms";
/**
 * Request of the typed client: the predicted and the measured milliseconds of its last answer of the edge, as `12.3 20.1`.
 * On deployed Workers, whose clock stops during computation, the edge learns its speed from it.
 */
export const REPORT_HEADER = "x-bert-edge-report";
/** Request: tells callers with the same key apart, so that each gets its share of the engine. An edge names its callers to its region. */
export const CALLER_HEADER = "x-bert-edge-caller";
/** Maximum number of characters of `CALLER_HEADER`. */
export const MAX_CALLER = 200;
/** Request: the lowest `NumberFormat` that may answer. */
export const PRECISION_HEADER = "x-bert-edge-precision";
/** Response: the `Reason` for which the tier was chosen. */
export const REASON_HEADER = "x-bert-edge-reason";
/** Response: predicted milliseconds of the chosen tier; absent without a prediction. */
export const PREDICTED_HEADER = "x-bert-edge-predicted-ms";
/**
 * Response: milliseconds of the budget that were left when the answer was ready; negative if the answer was late. On
 * deployed Workers the clock stops during computation, so the predicted computation time is subtracted.
 */
export const REMAINING_HEADER = "x-latency-budget-remaining-ms";
/** Response: `name@version` of the model that answered. */
export const MODEL_HEADER = "x-bert-edge-model";
/** Response: `hit` if the answer is from the response cache, `miss` if it is not. Absent without a response cache. */
export const CACHE_HEADER = "x-bert-edge-cache";
/** Response: the execution provider that computed the answer: `wasm`, `cpu`, `cuda`, … */
export const PROVIDER_HEADER = "x-bert-edge-provider";

/** Headers of answers that pages of other origins may read. */
export const exposedHeaders: readonly string[] = [
  CACHE_HEADER,
  DECISION_HEADER,
  MODEL_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  QUEUE_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  TIER_HEADER,
  "retry-after",
  "retry-after-ms",
  "server-timing",
  "x-request-id",
  "x-should-retry",
];

export const tiers = ["edge", "region"] as const;
export type Tier = (typeof tiers)[number];

/** Number formats of weights and activations, the lowest first. */
export const numberFormats = ["int8", "fp16"] as const;
export type NumberFormat = (typeof numberFormats)[number];

/** Reason for the choice of a tier. */
export type Reason =
  /** The request has no budget, so the edge answers. */
  | "no-budget"
  /** The edge is expected to answer in time. */
  | "within-budget"
  /** Only the region is expected to answer in time. */
  | "edge-over-budget"
  /** Both tiers are expected to be late. The tier that is expected to answer first was chosen. */
  | "over-budget"
  /** The edge is still loading the model. */
  | "edge-cold"
  /** The edge would exceed its CPU limit. */
  | "edge-cpu-limit"
  /** The edge would have to read too many pages of its vocabulary, or could not read them. */
  | "edge-pages"
  /** The edge has a queue, and the region is expected to answer a request without a budget much earlier. */
  | "edge-busy"
  /** The caller pinned the tier. */
  | "pinned"
  /** The edge cannot compute with the precision that the caller asked for. */
  | "precision"
  /** The deployment has no region. */
  | "only-tier"
  /** The region was needed, but it failed, was late, or serves another version, so the edge answered. */
  | "region-down";

/** Formats named durations in milliseconds as a Server-Timing header: https://www.w3.org/TR/server-timing */
export function formatServerTiming(timings: Readonly<Record<string, number>>): string {
  return Object.entries(timings)
    .map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`)
    .join(", ");
}

/** Reads `queue`, `compute` or `total` from a tier's Server-Timing header, in milliseconds; 0 if it is missing. */
export function timingOf(header: string | null, name: string): number {
  const ms = Number(new RegExp(`(?:^|,)\\s*${name};dur=(\\d+(?:\\.\\d+)?)`).exec(header ?? "")?.[1] ?? 0);
  return Number.isFinite(ms) ? ms : 0;
}
