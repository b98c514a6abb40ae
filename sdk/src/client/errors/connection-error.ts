import { BertEdgeClientError } from "./bert-edge-client-error.ts";

/** The service could not be reached, the connection was dropped, or the response is not from bert-edge. */
export class ConnectionError extends BertEdgeClientError {
  override readonly name = "ConnectionError";
}
