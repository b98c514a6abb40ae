import type { Tier } from "./contract/headers.ts";

/** What a request gets when it does not ask for anything else. */
export interface CallDefaults {
  /** Latency budget in milliseconds. Default: none. */
  readonly latencyBudgetMs?: number | undefined;
  /** The only tier that may answer. With `edge`, texts never leave the edge. Default: the deployment chooses. */
  readonly tier?: Tier | undefined;
}

/** An API key, and what its requests get when they do not ask for anything else. */
export interface KeyWithDefaults extends CallDefaults {
  readonly key: string;
}

export type ApiKey = string | KeyWithDefaults;
