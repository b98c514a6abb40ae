import * as v from "valibot";
import { addCounts, noRecords, type RecordCounts } from "../../bulk/record-counts.ts";
import { type JobsBucket, readJsonOf, writeJson } from "./bindings.ts";
import { type BulkJob, CountsSchema, isExpired, summaryKey } from "./job.ts";
import { finishedParts } from "./parts.ts";

const SummarySchema = v.object({ run: v.string(), parts: v.number(), counts: CountsSchema, finished: v.string() });

/** Progress of a job. */
export interface JobStatus {
  readonly job: string;
  /** `expired`: the job was not completed in time. Starting it again continues it. */
  readonly state: "running" | "complete" | "expired";
  /** Model of the job, as `name@version`. */
  readonly model: string;
  /** Name of the key that owns the job, and whose limits apply to it; undefined without an owner. */
  readonly owner?: string;
  readonly started: string;
  readonly finished?: string;
  /** Number of finished parts, the bytes of the input in them, and the numbers of their records. */
  readonly parts: number;
  readonly bytes: number;
  readonly counts: RecordCounts;
  readonly totalBytes: number;
}

export async function jobStatus(bucket: JobsBucket, job: BulkJob, now: number): Promise<JobStatus> {
  const { name, model, owner, started, input } = job;
  const common = { job: name, model, ...(owner !== undefined && { owner }), started, totalBytes: input.bytes };
  const summary = await readJsonOf(bucket, summaryKey(name), SummarySchema, "summary");
  // An earlier job of this name may have left its summary.
  if (summary?.run === job.run) {
    const { finished, parts, counts } = summary;
    return { ...common, state: "complete", finished, parts, bytes: input.bytes, counts };
  }
  let [parts, bytes, counts] = [0, 0, noRecords];
  for await (const part of finishedParts(bucket, job)) {
    parts++;
    bytes += part.bytes;
    counts = addCounts(counts, part.counts);
  }
  return { ...common, state: isExpired(job, now) ? "expired" : "running", parts, bytes, counts };
}

/** Writes the object that says that a job is complete. */
export async function writeSummary(
  bucket: JobsBucket,
  job: BulkJob,
  parts: number,
  counts: RecordCounts,
): Promise<void> {
  const { name, run, model, started } = job;
  const summary = { job: name, run, model, started, finished: new Date().toISOString(), parts, counts };
  await writeJson(bucket, summaryKey(name), summary);
}
