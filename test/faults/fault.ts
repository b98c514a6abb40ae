/**
 * What a reader got while a fault lasted: the whole old version, the whole new one, or an error with a stable code. Everything else is
 * wrong: a mix of versions, a vector that no version computes, an error without a code.
 */
export type Outcome = "old" | "new" | { readonly code: string } | { readonly wrong: string };

export interface Attempt {
  readonly outcome: Outcome;
  /** Whether everything worked again, without repairs by hand, after the fault had ended. */
  readonly recovered: boolean;
}

export interface RunningFault extends AsyncDisposable {
  attempt(random: () => number): Promise<Attempt>;
}

export interface Fault {
  readonly name: string;
  /** Attempts of `npm run faults`, and of the suite. */
  readonly times: { readonly long: number; readonly short: number };
  start(): Promise<RunningFault>;
}
