import { BertEdgeClientError } from "./bert-edge-client-error.ts";

/** The service cannot answer now (5xx). Trying again may help. */
export class UnavailableError extends BertEdgeClientError {
  override readonly name = "UnavailableError";
}
