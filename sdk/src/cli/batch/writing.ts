import { BertEdgeError } from "../../artifact/error.ts";

/** Waits for work that writes a file of a job. Throws `out_unwritable` if it fails. */
export const writing = <T>(path: string, work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw new BertEdgeError("out_unwritable", `${path} cannot be written.`, {
      hint: "Check the free space and your permission to write. What is done is kept: run the command again.",
      cause,
    });
  });
