/**
 * A parser that is given damaged input.
 *
 * What an attempt returns is its outcome: "accepted", or the code of a refusal. Everything else is a finding: another error, a hang, a
 * changed prototype.
 */
export interface Target {
  /** Attempts of `npm run fuzz`, and of the suite. */
  readonly runs: { readonly long: number; readonly short: number };
  /** Prepares sound input. */
  start(): Promise<Attempt>;
}

/** The same seed makes the same input. */
export type Attempt = (seed: number) => string | Promise<string>;
