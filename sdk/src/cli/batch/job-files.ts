import { BertEdgeError } from "../../artifact/error.ts";

const stemOf = (out: string): string => out.replace(/\.jsonl$/, "");

export const rejectedFileOf = (out: string): string => `${stemOf(out)}.rejected.jsonl`;
export const journalFileOf = (out: string): string => `${stemOf(out)}.journal.json`;

/** Returns the temporary file that `writeJournal` renames to the journal. */
export const nextJournalOf = (journal: string): string => `${journal}.tmp`;

/** Every file that a job with this output replaces or deletes. */
export function jobFiles(out: string): string[] {
  const journal = journalFileOf(out);
  return [out, rejectedFileOf(out), journal, nextJournalOf(journal)];
}

/** Makes the error for results that belong to another job. */
export const jobChanged = (what: string): BertEdgeError =>
  new BertEdgeError("job_changed", what, {
    hint: "Write to another file, or begin again with --restart, which deletes these results.",
  });

/** Waits for work that writes a file of a job. Throws `out_unwritable` if it fails. */
export const writing = <T>(path: string, work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw new BertEdgeError("out_unwritable", `${path} cannot be written.`, {
      hint: "Check the free space and your permission to write. The results so far are kept: run the command again.",
      cause,
    });
  });
