import type { HttpErrorCode } from "../../serve/contract/errors.ts";

/**
 * Error code of the service or of the client. `http_<status>` means that the response body is not an error of
 * bert-edge.
 */
export type ClientErrorCode = HttpErrorCode | "connection" | "timeout" | `http_${number}`;

/** Base class of the client's errors. Use the class or `code` to tell errors apart. */
export class BertEdgeClientError extends Error {
  override readonly name: string = "BertEdgeClientError";
  readonly code: ClientErrorCode;
  /** The HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** How to fix the error, if known. */
  readonly hint: string | undefined;

  constructor(
    message: string,
    details: { code: ClientErrorCode; status?: number; hint?: string | undefined; cause?: unknown },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.status = details.status;
    this.hint = details.hint;
  }
}
