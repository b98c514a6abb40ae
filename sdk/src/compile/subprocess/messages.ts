import type { ErrorCode } from "../../artifact/error-codes.ts";

/** The call that a subprocess makes. */
export interface Call {
  /** URL of the module that exports the function. */
  readonly module: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** A message of a subprocess before its answer. */
export interface ProgressMessage {
  /** Finished share of the call, from 0 to 1. */
  readonly progress: number;
}

/** The answer of a subprocess: the function's result, or the error it threw. */
export type Answer<T> =
  | { readonly result: T }
  | { readonly message: string }
  | {
      readonly code: ErrorCode;
      readonly message: string;
      readonly hint: string | undefined;
      readonly cause: string | undefined;
    };

/**
 * Tells the parent process how much of the call is done. Does nothing in a process that no `inSubprocess` has started.
 *
 * @param fraction finished share, from 0 to 1
 */
export function reportProgress(fraction: number): void {
  process.send?.({ progress: fraction } satisfies ProgressMessage);
}
