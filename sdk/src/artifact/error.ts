/**
 * The base of every error this package throws on purpose.
 *
 * `message` says what went wrong and where, `hint` how to fix it, `code` is stable across versions
 * and is what programs should branch on.
 */
export class BertEdgeError extends Error {
  override readonly name: string = "BertEdgeError";
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}
