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

  constructor(code: ErrorCode, message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}
