import type { HttpErrorCode } from "../../serve/contract/errors.ts";

/** The service's code, or the client's own. `http_<status>` stands for an answer without bert-edge's error body. */
export type ClientErrorCode = HttpErrorCode | "connection" | "timeout" | `http_${number}`;

/** The base class of the client's errors. Branch on the class or on `code`. */
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
