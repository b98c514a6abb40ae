import type { ErrorCode } from "./error-codes.ts";

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

  constructor(
    code: ErrorCode,
    message: string,
    { hint, index, cause }: { hint?: string | undefined; index?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.index = index;
  }
}
