import type { Reason, Tier } from "./contract/headers.ts";
import type { Deadline } from "./routing/deadline.ts";

/** A request for embeddings, independent of the route that received it. */
export interface EmbedQuery {
  readonly texts: readonly string[];
  /** Whether to cut texts that are too long. */
  readonly truncate: boolean;
  /** Name of the requested model; undefined if the request does not name a model. */
  readonly model: string | undefined;
  /** Vector size that the caller expects; undefined accepts any size. */
  readonly dimensions: number | undefined;
  readonly deadline: Deadline;
}

export interface EmbedAnswer {
  /** One vector [dimensions] per text, in the order of the texts. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
  /** Tokens of all texts together. */
  readonly tokens: number;
  readonly model: string;
  readonly version: string;
  readonly tier: Tier;
  readonly provider: string;
  readonly reason: Reason;
  /** Predicted milliseconds of the chosen tier; undefined without a prediction. */
  readonly predictedMs: number | undefined;
  /** Milliseconds of each part of the work, by name, for the Server-Timing header. */
  readonly timings: Readonly<Record<string, number>>;
}

/** An answer without the fields about the choice of the tier. */
export type TierAnswer = Omit<EmbedAnswer, "tier" | "reason" | "predictedMs">;

/** Keeps work running after the response, with `waitUntil` on platforms that have this function. */
export type Background = (work: Promise<unknown>) => void;

export interface EmbedService {
  embed(query: EmbedQuery, background: Background): Promise<EmbedAnswer>;
  /**
   * Returns the loaded model, or undefined while no model is loaded. Starts loading the model if no load is in
   * progress.
   */
  ready(background: Background): { model: string; version: string; provider: string } | undefined;
}
