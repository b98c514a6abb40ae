import type { HttpErrorCode } from "../../serve/contract/errors.ts";

/** The service's code, or the client's own. `http_<status>` stands for an answer without bert-edge's error body. */
export type ClientErrorCode = HttpErrorCode | "connection" | "timeout" | `http_${number}`;

/** The base of all errors of the client. Branch on the class or on `code`. */
export class BertEdgeClientError extends Error {
  override readonly name: string = "BertEdgeClientError";
  readonly code: ClientErrorCode;
  /** The HTTP status; undefined when there was no response. */
  readonly status: number | undefined;
  /** How to fix it, when the server or the client knows. */
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
