import type { Model } from "../runtime/model.ts";
import type { NumberFormat, Reason, Tier } from "./contract/headers.ts";
import type { ArrivalTime, Deadline } from "./routing/deadline.ts";
import type { RequestTrace } from "./trace.ts";

/** Wishes of the caller of a request, apart from the texts. */
export interface CallTerms {
  readonly deadline: Deadline;
  /** The only tier that may answer; undefined leaves the choice to the deployment. */
  readonly pin?: Tier | undefined;
  /** The lowest precision that may answer; undefined accepts any. */
  readonly precision?: NumberFormat | undefined;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined;
  /** The times of an earlier answer, in milliseconds, as its client measured it. */
  readonly report?: { readonly predictedMs: number; readonly measuredMs: number } | undefined;
  /** Names of the request in the logs of other services. */
  readonly trace?: RequestTrace | undefined;
}

/** A request for embeddings, independent of the route that received it. */
export interface EmbedQuery extends CallTerms {
  readonly texts: readonly string[];
  /** Whether to cut texts that are too long. */
  readonly truncate: boolean;
  /** Name of the requested model; undefined if the request does not name a model. */
  readonly model: string | undefined;
  /** Vector size that the caller expects; undefined accepts any size. */
  readonly dimensions: number | undefined;
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
  /** The figures behind the decision, by name: times in milliseconds, or a flag. */
  readonly decision: Readonly<Record<string, number | true>>;
}

/** An answer without the fields about the choice of the tier. */
export type TierAnswer = Omit<EmbedAnswer, "tier" | "reason" | "predictedMs" | "decision">;

/** Keeps work running after the response, with `waitUntil` on platforms that have this function. */
export type Background = (work: Promise<unknown>) => void;

export interface EmbedService {
  /**
   * Refuses a request that cannot be answered in time, whatever its texts are.
   *
   * @throws BertEdgeError `overloaded`, `budget_exceeded`, `tier_unavailable`, `precision_unavailable`
   */
  admit(call: CallTerms, background: Background): void;
  embed(query: EmbedQuery, background: Background): Promise<EmbedAnswer>;
  /** Runs work on the model, which is loaded first if needed, and is not released before the work ends. */
  using<T>(background: Background, work: (model: Model) => Promise<T>): Promise<T>;
  /**
   * Returns the loaded model, or undefined while no model is loaded. Starts loading the model if no load is in
   * progress.
   */
  ready(background: Background): { model: string; version: string; provider: string } | undefined;
  /**
   * Returns when a request arrived that is handled at `now`. A computation can occupy the thread, and requests that arrive
   * meanwhile are handled later.
   */
  arrival(now: number): ArrivalTime;
  /** Predicted milliseconds that a new request with a budget would wait for its turn. */
  queueMs(): number;
}
