import * as v from "valibot";
import { parseJson } from "../../artifact/parse-json.ts";
import type { JobsBucket } from "./bindings.ts";
import { inTime, textOf } from "./in-time.ts";
import { jobKey } from "./keys.ts";

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
  /** Tells this job from an earlier one of the same name, whose parts and messages can still exist. */
  run: v.string(),
  /** name@version of the model that computes all vectors. */
  model: v.string(),
  input: v.object({ etag: v.string(), bytes: Count }),
  encodingFormat: v.picklist(["float", "base64"]),
  truncate: v.boolean(),
  /** What decides where parts end. It is fixed when the job starts, so that each split makes the same parts. */
  parts: v.object({
    lines: v.pipe(Count, v.minValue(1)),
    /** Predicted CPU time of a part in ms, and of a sequence. */
    costMs: NonNegative,
    fit: v.object({ base: NonNegative, perToken: NonNegative, perSquare: NonNegative }),
    maxTokens: Count,
  }),
  started: v.pipe(v.string(), v.isoTimestamp()),
  /** Time after which no message of the job is handled. Starting the job again moves it. */
  expires: v.pipe(v.string(), v.isoTimestamp()),
});

/** A job, as it is kept in the bucket. */
export type BulkJob = v.InferOutput<typeof JobSchema>;

/**
 * Reads a job.
 *
 * @returns undefined if no job of this name was started
 * @throws BertEdgeError `storage_unavailable`, `job_changed` when the object is not a job
 */
export async function readJob(bucket: JobsBucket, name: string): Promise<BulkJob | undefined> {
  const key = jobKey(name);
  const text = await textOf(bucket, key);
  return text === undefined
    ? undefined
    : parseJson(JobSchema, text, { code: "job_changed", what: `job ${key}`, hint: "Start a job of another name." });
}

export const writeJob = (bucket: JobsBucket, job: BulkJob): Promise<unknown> =>
  inTime(
    bucket.put(jobKey(job.name), JSON.stringify(job), { httpMetadata: { contentType: "application/json" } }),
    jobKey(job.name),
  );

export const isExpired = ({ expires }: BulkJob, now: number): boolean => Date.parse(expires) <= now;
