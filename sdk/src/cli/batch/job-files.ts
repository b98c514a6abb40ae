const stemOf = (out: string): string => out.replace(/\.jsonl$/, "");

export const rejectedFileOf = (out: string): string => `${stemOf(out)}.rejected.jsonl`;
export const journalFileOf = (out: string): string => `${stemOf(out)}.journal.json`;

/** The file that becomes the next journal. */
export const nextJournalOf = (journal: string): string => `${journal}.tmp`;

/** Every file that a job with this output replaces or deletes. */
export function jobFiles(out: string): string[] {
  const journal = journalFileOf(out);
  return [out, rejectedFileOf(out), journal, nextJournalOf(journal)];
}
