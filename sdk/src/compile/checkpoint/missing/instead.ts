import type { ErrorCode } from "../../../artifact/error-codes.ts";

/** What a folder has instead of a file, and what to do about it. */
export interface Instead {
  /** Default: `checkpoint_missing`. */
  readonly code?: ErrorCode;
  /** End of the sentence that begins with "… does not exist, but ". */
  readonly but: string;
  readonly hint: string;
}
