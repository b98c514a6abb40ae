import { BertEdgeError } from "../../artifact/error.ts";

/** Makes the error for results that belong to another job. */
export const jobChanged = (what: string): BertEdgeError =>
  new BertEdgeError("job_changed", what, {
    hint: "Write to another file, or begin again with --restart, which deletes these results.",
  });
