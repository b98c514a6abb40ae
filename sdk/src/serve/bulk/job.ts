import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { KnownKey } from "../call-defaults.ts";
import { TruncationField } from "../contract/fields.ts";
import { type JobsBucket, readJsonOf, writeJson } from "./bindings.ts";

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const NonNegative = v.pipe(v.number(), v.minValue(0));

export const CountsSchema = v.object({
  lines: Count,
  records: Count,
  embedded: Count,
  truncated: Count,
  rejected: Count,
});

const JobSchema = v.object({
  format: v.literal(1),
  name: v.string(),
  /** Id that tells this job from an earlier job of the same name, whose parts and messages can still exist. */
  run: v.string(),
  /** name@version of the model that computes all vectors. */
  model: v.string(),
  input: v.object({ etag: v.string(), bytes: Count }),
  encodingFormat: v.picklist(["float", "base64"]),
  truncate: TruncationField,
  /** The sizes at which parts end. They are fixed when the job starts, so that each split makes the same parts. */
  parts: v.object({
    lines: v.pipe(Count, v.minValue(1)),
    /** Predicted CPU time at which a part ends, in ms, and the formula that predicts the time of a sequence. */
    costMs: NonNegative,
    fit: v.object({ base: NonNegative, perToken: NonNegative, perSquare: NonNegative }),
    maxTokens: Count,
  }),
  /** Name of the key that started the job; undefined if keys were not checked, and in jobs of earlier releases. */
  owner: v.optional(v.string()),
  started: v.pipe(v.string(), v.isoTimestamp()),
  /** Time after which no message of the job is handled. Starting the job again postpones this time. */
  expires: v.pipe(v.string(), v.isoTimestamp()),
});

/** A job, as it is kept in the bucket. */
export type BulkJob = v.InferOutput<typeof JobSchema>;

/** Reads a job; undefined if none of this name was started. */
export const readJob = (bucket: JobsBucket, name: string): Promise<BulkJob | undefined> =>
  readJsonOf(bucket, jobKey(name), JobSchema, "job");

/** The caller that asks about a job; undefined if keys are not checked. */
export type JobCaller = Pick<KnownKey, "name" | "jobs" | "isAlone"> | undefined;

/**
 * Whether a caller may see a job and start it again. A job without an owner is for keys that see all jobs, and for the keys of
 * a deployment whose keys all have one name.
 */
export function seesJob(caller: JobCaller, { owner }: BulkJob): boolean {
  if (!caller || caller.jobs === "all") return true;
  return owner === undefined ? caller.isAlone : owner === caller.name;
}

/** Writes a job. @returns false if it is new, but another job of this name was started meanwhile */
export const writeJob = (bucket: JobsBucket, job: BulkJob, isNew: boolean): Promise<boolean> =>
  writeJson(bucket, jobKey(job.name), job, isNew);

export const isExpired = ({ expires }: BulkJob, now: number): boolean => Date.parse(expires) <= now;

/** Number of digits of a part's number in its key. Leading zeros make a bucket list the keys in the order of the parts. */
const DIGITS = 9;

/** Keys of a job's objects in its bucket. */
export const inputKey = (job: string): string => `jobs/${job}/input.jsonl`;
const jobKey = (job: string): string => `jobs/${job}/job.json`;
export const summaryKey = (job: string): string => `jobs/${job}/summary.json`;
export const partsPrefix = (job: string): string => `jobs/${job}/parts/`;

export type PartKind = "results" | "rejected";

export const partKey = (job: string, part: number, kind: PartKind = "results"): string =>
  `jobs/${job}/${kind === "results" ? "parts" : kind}/${`${part}`.padStart(DIGITS, "0")}.jsonl`;

/** Returns the number of the part whose results are under a key; undefined for other keys. */
export function partOfKey(key: string): number | undefined {
  const digits = /\/parts\/(\d{9})\.jsonl$/.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const job = { job: v.string(), run: v.string() };
/** A place in the input where a part begins: its number, its first byte and the number of its first line. */
const place = { part: Count, offset: Count, line: Count };

const JobMessageSchema = v.variant("kind", [
  /** Split the input into parts from a place on. */
  v.object({ kind: v.literal("split"), ...job, ...place }),
  /** Embed a part, which has `size` bytes, and was put off `waits` times because its key was over its limits. */
  v.object({ kind: v.literal("part"), ...job, ...place, size: Count, waits: v.optional(Count, 0) }),
  /**
   * Complete the job when all its parts exist. The parts before `next` exist, and have `counts` together. The last `idle` checks found
   * no further part.
   */
  v.object({ kind: v.literal("finish"), ...job, parts: Count, next: Count, counts: CountsSchema, idle: Count }),
]);

/** A message on the queue of jobs. A message is about 200 bytes long. */
export type JobMessage = v.InferOutput<typeof JobMessageSchema>;
export type MessageOf<Kind extends JobMessage["kind"]> = Extract<JobMessage, { kind: Kind }>;

/** @throws BertEdgeError `request_invalid` */
export function readMessage(body: unknown): JobMessage {
  const result = v.safeParse(JobMessageSchema, body);
  if (result.success) return result.output;
  throw new BertEdgeError("request_invalid", `The queue's message is not about a job: ${result.issues[0].message}`, {
    hint: "Use a separate queue for jobs.",
  });
}
