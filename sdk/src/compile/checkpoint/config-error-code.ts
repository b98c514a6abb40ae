import type * as v from "valibot";
import type { ErrorCode } from "../../artifact/error-codes.ts";

/** Kinds of valibot's issues for a value that is none of those that a schema lists. */
const listed: readonly string[] = ["literal", "picklist", "null", "never"];

/**
 * Returns the code for an issue in config.json. Schemas list the values of a key that are supported, so any other value is
 * unsupported, and so is what `supports` refuses. Other issues, such as a size that is no number, make the file invalid.
 */
export const configErrorCode = (issue?: v.BaseIssue<unknown>): ErrorCode =>
  issue?.type === "raw_check" || (issue?.path && listed.includes(issue.type))
    ? "checkpoint_unsupported"
    : "checkpoint_invalid";
