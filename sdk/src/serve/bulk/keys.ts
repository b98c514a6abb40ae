/** Digits of a part's number in its key: keys are listed in the order of their parts. */
const DIGITS = 9;

const numbered = (part: number): string => `${part}`.padStart(DIGITS, "0");

/** Keys of a job's objects in its bucket. */
export const inputKey = (job: string): string => `jobs/${job}/input.jsonl`;
export const jobKey = (job: string): string => `jobs/${job}/job.json`;
export const summaryKey = (job: string): string => `jobs/${job}/summary.json`;
export const partsPrefix = (job: string): string => `jobs/${job}/parts/`;
export const partKey = (job: string, part: number): string => `${partsPrefix(job)}${numbered(part)}.jsonl`;
export const rejectedPrefix = (job: string): string => `jobs/${job}/rejected/`;
export const rejectedKey = (job: string, part: number): string => `${rejectedPrefix(job)}${numbered(part)}.jsonl`;

/** Returns the number of the part whose results are under a key; undefined for other keys. */
export function partOfKey(key: string): number | undefined {
  const digits = /\/parts\/(\d{9})\.jsonl$/.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
