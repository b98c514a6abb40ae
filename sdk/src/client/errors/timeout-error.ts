import { BertEdgeClientError } from "./bert-edge-client-error.ts";

/** The service did not answer within `timeoutMs`. */
export class TimeoutError extends BertEdgeClientError {
  override readonly name = "TimeoutError";
}
