import type { HttpErrorCode } from "../serve/contract/errors.ts";

/**
 * Error code of the service or of the client. `http_<status>` means that the response body has no error code. Other codes
 * come from your own app or a gateway, if their errors look like those of bert-edge: `{"error": {"code", "message"}}`.
 */
export type ClientErrorCode =
  | HttpErrorCode
  | OwnErrorCode
  | `http_${number}`
  // A plain `string` would absorb the codes above, which editors suggest.
  | (string & {});

/** Error code of the client itself. */
export type OwnErrorCode = "connection" | "redirected" | "response_invalid" | "timeout" | "version_changed";

export interface ErrorDetails {
  code: ClientErrorCode;
  status?: number | undefined;
  hint?: string | undefined;
  index?: number | undefined;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  requestId?: string | undefined;
  decision?: string | undefined;
  cause?: unknown;
}

/** Base class of the client's errors. Use the class or `code` to tell errors apart. */
export class BertEdgeClientError extends Error {
  override readonly name: string = "BertEdgeClientError";
  declare readonly code: ClientErrorCode;
  /** The HTTP status; undefined without a response. */
  declare readonly status: number | undefined;
  /** Advice that fixes the error, if known. */
  declare readonly hint: string | undefined;
  /** Index of the text at fault in the list of texts; undefined if the error is not about one text. */
  declare readonly index: number | undefined;
  /** Whether the same request may succeed later. The client has already tried again, up to `maxRetries` times. */
  declare readonly retryable: boolean;
  /** Milliseconds to wait before the next try, if the service said so. */
  declare readonly retryAfterMs: number | undefined;
  /** Id of the request in the logs of the edge and the region; undefined without a response. */
  declare readonly requestId: string | undefined;
  /** Numbers that led to a refusal: see `decision` of `RequestDetails`. */
  declare readonly decision: string | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details);
    Object.assign(this, { retryable: false, ...details });
  }
}

/** The API key is missing or wrong (401). */
export class AuthenticationError extends BertEdgeClientError {
  override readonly name = "AuthenticationError";
}

/** The request is invalid and would fail again (400, 404, 413, 415, …). */
export class InvalidRequestError extends BertEdgeClientError {
  override readonly name = "InvalidRequestError";
}

/** The platform, a proxy or your own app refused the request because there were too many (429). */
export class RateLimitError extends BertEdgeClientError {
  override readonly name = "RateLimitError";
}

/** The service cannot answer now (5xx). Trying again may help. */
export class UnavailableError extends BertEdgeClientError {
  override readonly name = "UnavailableError";
}

/** The service could not be reached, the connection was dropped, or the response is not from bert-edge. */
export class ConnectionError extends BertEdgeClientError {
  override readonly name = "ConnectionError";
}

/** The service did not answer within `timeoutMs`. */
export class TimeoutError extends BertEdgeClientError {
  override readonly name = "TimeoutError";
}

/** Requests of one call were answered by different versions of the model. Such vectors cannot be compared. */
export class VersionChangedError extends BertEdgeClientError {
  override readonly name = "VersionChangedError";
}

export const versionChanged = (before: string, after: string): VersionChangedError =>
  new VersionChangedError(`The model changed from ${before} to ${after} during the call.`, {
    code: "version_changed",
    hint: "Repeat the whole call.",
  });
