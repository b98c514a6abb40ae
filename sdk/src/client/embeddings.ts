import type { Reason, Tier } from "../serve/contract/headers.ts";
import type { CallOptions, TaskOptions } from "../serve/contract/javascript.ts";
import type { BertEdgeClientError } from "./errors.ts";

export interface EmbedOptions extends CallOptions, TaskOptions<"embed"> {
  /** Called after each batch. `done` counts the texts that have a vector or were skipped, `total` all texts of the call. */
  onProgress?: (progress: { done: number; total: number }) => void;
  /**
   * `throw`: the call fails at the first text that the service refuses. `skip`: only this text fails. Every skipped text
   * costs one more request. All other errors always fail the call. Default `throw`.
   */
  onError?: "throw";
}

export interface SkippingOptions extends Omit<EmbedOptions, "onError"> {
  onError: "skip";
}

/**
 * One request of a call, and its answer. All fields but `texts`, `tokens` and `tier` come from response headers. In browsers, they are
 * undefined on pages of another origin, unless the deployment names these headers in `exposeHeaders` of Hono's `cors()`.
 */
export interface RequestDetails {
  /** Number of texts in the request. */
  texts: number;
  /** Tokens of all texts of the request together. */
  tokens: number;
  /** The tier that computed the answer. */
  tier: Tier;
  /** Reason for the choice of the tier. */
  reason: Reason | undefined;
  /** Predicted time of the tier, in ms; undefined without a prediction. */
  predictedMs: number | undefined;
  /**
   * Budget that was left when the answer was ready, in ms; negative if the answer was late, undefined without a budget.
   */
  remainingMs: number | undefined;
  /** Id of the request in the logs of the edge and the region. */
  requestId: string | undefined;
  /** Numbers by which the tier was chosen, in ms: `budget=50.0, wait=12.3, compute=29.8, spread=4.1, region=41.7`. */
  decision: string | undefined;
}

/** The model and the tier that answered a call, and its requests. */
export interface CallDetails {
  model: string;
  /** The version of the model that computed all results. */
  version: string;
  /** The tier and the reason that all requests have in common, or `mixed`. */
  tier: Tier | "mixed";
  reason: Reason | "mixed" | undefined;
  /** The times of the request, as in `RequestDetails`; undefined if the call needed several requests. */
  predictedMs: number | undefined;
  remainingMs: number | undefined;
  /** Tokens of all texts together. */
  tokens: number;
  /** The answered requests, in the order of their texts. */
  requests: RequestDetails[];
}

export interface Embeddings extends CallDetails {
  /** One vector [dimensions] per text, in the order of the texts. */
  embeddings: Float32Array<ArrayBuffer>[];
}

/** The result of a call with `onError: "skip"`. If all texts failed, model, version, tier and reason are undefined. */
export interface PartialEmbeddings
  extends Pick<CallDetails, "predictedMs" | "remainingMs" | "tokens" | "requests">,
    Partial<Pick<CallDetails, "model" | "version" | "tier" | "reason">> {
  /** One vector [dimensions] per text, in the order of the texts; undefined for texts that failed. */
  embeddings: (Float32Array<ArrayBuffer> | undefined)[];
  /** The texts that failed, in their order: index in the list of texts, and why. */
  failed: { index: number; error: BertEdgeClientError }[];
}
