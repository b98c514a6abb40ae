/** Numbers of lines and records. `records` is the sum of `embedded` and `rejected`. */
export interface RecordCounts {
  /** Number of lines, including lines of only white space. */
  readonly lines: number;
  readonly records: number;
  readonly embedded: number;
  /** Embedded records whose text was cut. */
  readonly truncated: number;
  readonly rejected: number;
}

export const noRecords: RecordCounts = { lines: 0, records: 0, embedded: 0, truncated: 0, rejected: 0 };

export const addCounts = (a: RecordCounts, b: RecordCounts): RecordCounts => ({
  lines: a.lines + b.lines,
  records: a.records + b.records,
  embedded: a.embedded + b.embedded,
  truncated: a.truncated + b.truncated,
  rejected: a.rejected + b.rejected,
});
