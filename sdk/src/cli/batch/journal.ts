import { rename, rm, writeFile } from "node:fs/promises";
import * as v from "valibot";
import { parseJson } from "../../artifact/parse-json.ts";
import { MAX_SETTINGS_BYTES, wholeText } from "../../compile/files/whole-file.ts";
import { emptyPrefix } from "./hashed-file.ts";
import { jobChanged, nextJournalOf, writing } from "./job-files.ts";

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Prefix = v.object({ bytes: Count, sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)) });

const Settings = v.object({
  /** name@version */
  model: v.string(),
  /** Target, engine and provider that compute the vectors. */
  engine: v.string(),
  format: v.picklist(["float", "base64"]),
  truncate: v.boolean(),
});

/** The settings on which the results of a job depend, apart from its input. */
export type JobSettings = v.InferOutput<typeof Settings>;

const Fields = v.object({
  journal: v.literal(1),
  settings: Settings,
  /** The part of the input that was read, and the part of the output that was written for it. */
  input: Prefix,
  output: Prefix,
  rejected: Prefix,
  counts: v.object({ lines: Count, records: Count, embedded: Count, truncated: Count, rejected: Count }),
  /** Whether the input was read to its end. */
  complete: v.boolean(),
});

/** Schema of a journal. Also checks the counts: each line has at least one byte, so a file has no more lines than bytes. */
const JournalSchema = v.pipe(
  Fields,
  v.check(
    ({ counts, input, output, rejected }) =>
      counts.records === counts.embedded + counts.rejected &&
      counts.records <= counts.lines &&
      counts.truncated <= counts.embedded &&
      counts.lines <= input.bytes &&
      counts.embedded <= output.bytes &&
      counts.rejected <= rejected.bytes,
    "its counts contradict each other or the sizes of the files",
  ),
);

/** Progress of a job: the parts of its files that are done, and its counts. */
export type Journal = v.InferOutput<typeof JournalSchema>;

/** The journal of a job that has not begun. */
export const firstJournal = (settings: JobSettings): Journal => ({
  journal: 1,
  settings,
  input: emptyPrefix,
  output: emptyPrefix,
  rejected: emptyPrefix,
  counts: { lines: 0, records: 0, embedded: 0, truncated: 0, rejected: 0 },
  complete: false,
});

/**
 * Reads the journal of a job.
 *
 * @returns undefined when there is no journal
 * @throws BertEdgeError `job_changed` when the journal cannot be read, or belongs to a job with other settings
 */
export async function readJournal(path: string, settings: JobSettings): Promise<Journal | undefined> {
  const text = await wholeText(path, MAX_SETTINGS_BYTES).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { hint } = jobChanged("");
  const journal = parseJson(JournalSchema, text, { code: "job_changed", what: `journal ${path}`, hint: hint ?? "" });
  for (const key of Object.keys(settings) as (keyof JobSettings)[]) {
    const [before, now] = [journal.settings[key], settings[key]];
    if (before === now) continue;
    throw jobChanged(`The results that ${path} describes have \`${key}\` ${before}, but this job has ${now}.`);
  }
  return journal;
}

/**
 * Replaces the journal. A process that is killed meanwhile leaves the old journal or the new one. Two processes with the same job write
 * to the same temporary file, and at least one of them fails.
 */
export async function writeJournal(path: string, journal: Journal): Promise<void> {
  const next = nextJournalOf(path);
  // A link at this name is removed, and never followed.
  await writing(path, rm(next, { force: true }));
  await writing(path, writeFile(next, `${JSON.stringify(journal)}\n`, { flag: "wx", flush: true }));
  await writing(path, rename(next, path));
}
