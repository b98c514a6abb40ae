import { BertEdgeClientError } from "./bert-edge-client-error.ts";

/** Requests of one call were answered by different versions of the model. Such vectors cannot be compared. */
export class VersionChangedError extends BertEdgeClientError {
  override readonly name = "VersionChangedError";
}
