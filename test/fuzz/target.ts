import type { ErrorCode } from "#sdk/artifact/error-codes.ts";

/**
 * A parser that is given damaged input.
 *
 * What an attempt returns is its outcome: "accepted", or one of the target's refusals. Everything else is a finding: another error, a
 * hang, a changed prototype.
 */
export interface Target {
  /** Attempts of `npm run fuzz`, and of the suite. */
  readonly runs: { readonly long: number; readonly short: number };
  /** The codes with which this target may refuse an input. Any other code can hide a crash. */
  readonly refusals: readonly Refusal[];
  /** Prepares sound input. */
  start(): Promise<Attempt>;
}

/** In some dialects, an HTTP answer has only a status. `not_packed`: a tokenizer.json has no packed form. */
export type Refusal = Exclude<ErrorCode, "internal"> | `http_4${number}` | "not_packed";

/** The same seed makes the same input. */
export type Attempt = (seed: number) => string | Promise<string>;
