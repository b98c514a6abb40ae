import { BertEdgeClientError } from "./bert-edge-client-error.ts";

/** The request is invalid and would fail again (400, 404, 413, 415, …). */
export class InvalidRequestError extends BertEdgeClientError {
  override readonly name = "InvalidRequestError";
}
