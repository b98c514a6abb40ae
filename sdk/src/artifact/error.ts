import type { ErrorCode } from "./error-codes.ts";

export interface BertEdgeErrorDetails {
  readonly hint?: string | undefined;
  readonly index?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The class of every error that this package throws on purpose.
 *
 * `message` says what went wrong and where; `hint` says how to fix it. Programs should branch on `code`, which stays the
 * same across versions.
 */
export class BertEdgeError extends Error {
  override readonly name: string = "BertEdgeError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  /** Index of the input at fault; undefined if the error is not about one input. */
  readonly index: number | undefined;
  /** Milliseconds after which a retry makes sense; undefined if this is not known, or if it never does. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, { hint, index, retryAfterMs, cause }: BertEdgeErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.index = index;
    this.retryAfterMs = retryAfterMs;
  }
}
