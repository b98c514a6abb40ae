import type { Reason, Tier } from "./contract/headers.ts";
import type { Deadline } from "./routing/deadline.ts";

/** A request for embeddings, independent of the API that it came through. */
export interface EmbedQuery {
  readonly texts: readonly string[];
  /** Whether texts that are too long are cut. */
  readonly truncate: boolean;
  /** The model's name; undefined for the served model, whatever its name. */
  readonly model: string | undefined;
  /** The size of vector that the caller expects; undefined accepts the model's. */
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
  /** Predicted milliseconds of the chosen tier; undefined when nothing is known yet. */
  readonly predictedMs: number | undefined;
  /** Milliseconds by part, for the Server-Timing header. */
  readonly timings: Readonly<Record<string, number>>;
}

/** An answer before it is known why this tier was chosen. */
export type TierAnswer = Omit<EmbedAnswer, "tier" | "reason" | "predictedMs">;

/** Lets work continue after the response: `waitUntil` where the platform has it. */
export type Background = (work: Promise<unknown>) => void;

export interface EmbedService {
  embed(query: EmbedQuery, background: Background): Promise<EmbedAnswer>;
  /** Returns the loaded model; undefined while there is none. Starts loading it if nobody has. */
  ready(background: Background): { model: string; version: string; provider: string } | undefined;
}
