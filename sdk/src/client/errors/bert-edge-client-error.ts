import type { HttpErrorCode } from "../../serve/contract/errors.ts";

/**
 * Error code of the service or of the client. `http_<status>` means that the response body is not an error of
 * bert-edge.
 */
export type ClientErrorCode =
  | HttpErrorCode
  | "connection"
  | "response_invalid"
  | "timeout"
  | "version_changed"
  | `http_${number}`;

export interface ErrorDetails {
  code: ClientErrorCode;
  status?: number | undefined;
  hint?: string | undefined;
  index?: number | undefined;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Base class of the client's errors. Use the class or `code` to tell errors apart. */
export class BertEdgeClientError extends Error {
  override readonly name: string = "BertEdgeClientError";
  readonly code: ClientErrorCode;
  /** The HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** How to fix the error, if known. */
  readonly hint: string | undefined;
  /** Index of the text at fault in the list of texts; undefined if the error is not about one text. */
  readonly index: number | undefined;
  /** Whether the same request may succeed later. The client has already tried again, up to `maxRetries` times. */
  readonly retryable: boolean;
  /** Milliseconds to wait before the next try, if the service said so. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.status = details.status;
    this.hint = details.hint;
    this.index = details.index;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}
