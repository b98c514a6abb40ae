import * as v from "valibot";
import { EncodingFormat, notList } from "./fields.ts";

/** The body of `POST /v1/jobs/<name>`. */
export const JobRequest = notList(
  v.object({
    encoding_format: v.optional(EncodingFormat),
    /** Whether to cut texts that are too long instead of setting them aside. */
    truncate: v.optional(v.boolean()),
  }),
);
