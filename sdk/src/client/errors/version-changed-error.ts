import { BertEdgeClientError } from "./bert-edge-client-error.ts";

/** Requests of one call were answered by different versions of the model. Such vectors cannot be compared. */
export class VersionChangedError extends BertEdgeClientError {
  override readonly name = "VersionChangedError";
}

export const versionChanged = (before: string, after: string): VersionChangedError =>
  new VersionChangedError(`The model changed from ${before} to ${after} during the call.`, {
    code: "version_changed",
    hint: "Embed all texts again.",
  });
