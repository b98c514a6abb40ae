import type { ErrorCode } from "../../../artifact/error-codes.ts";

/** The substitute that a folder has for a missing file, and the remedy. */
export interface Instead {
  /** Default: `checkpoint_missing`. */
  readonly code?: ErrorCode;
  /** End of the sentence that begins with "… does not exist, but ". */
  readonly but: string;
  readonly hint: string;
}
