import type { Tier } from "#sdk/serve/contract/headers.ts";
import type { TextLength } from "./texts.ts";

/**
 * Who sends requests, and when. In a closed loop each client sends its next request after an answer; after a refusal it
 * waits as the answer says, or is impatient and sends at once. In an open loop requests arrive at random times
 * (Poisson), whether or not earlier ones were answered.
 */
export type Traffic =
  | { readonly loop: "closed"; readonly clients: number }
  | { readonly loop: "open"; readonly perSecond: number };

/** The work of one run of the load generator. */
export interface LoadJob {
  /** Address of the tier that is asked. */
  readonly url: string;
  readonly key: string;
  readonly traffic: Traffic;
  readonly length: TextLength;
  /** Milliseconds; undefined sends requests without a budget. */
  readonly budgetMs: number | undefined;
  /** Tier that must answer; undefined leaves the choice to the edge. */
  readonly pin: Tier | undefined;
  /** Texts and arrivals depend only on this number. */
  readonly seed: number;
  /** Milliseconds of traffic before the measured window. */
  readonly warmMs: number;
  /** Milliseconds of the measured window. */
  readonly measuredMs: number;
}

/** A request of a run. Times are in milliseconds. */
export interface Sample {
  /** Number of the client in a closed loop, or of the arrival in an open loop. */
  readonly client: number;
  /** Number of the client's request. The same client and turn have the same texts in every run with the same seed. */
  readonly turn: number;
  /** When the request was to be sent, since the start of the measured window. Negative before the window. */
  readonly at: number;
  /** Time from `at` to the last byte of the answer; undefined when the run ended first. */
  readonly ms: number | undefined;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** Code of a refusal. */
  readonly code: string | undefined;
  readonly tier: string | undefined;
  readonly reason: string | undefined;
  readonly predictedMs: number | undefined;
  /** Rest of the budget according to the answer's header. */
  readonly remainingMs: number | undefined;
}

export interface LoadRun {
  readonly samples: readonly Sample[];
  /** 99th percentile of the delay of the generator's own timers. Latencies are too long by this time at most. */
  readonly lagMs: number;
}
