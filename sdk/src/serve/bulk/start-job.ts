import { BertEdgeError } from "../../artifact/error.ts";
import { predictedFit } from "../answering/plan.ts";
import type { Background } from "../background.ts";
import type { TaskService } from "../service.ts";
import { inTime, type JobsPlace } from "./bindings.ts";
import { type BulkJob, inputKey, readJob, writeJob } from "./job.ts";
import { type JobStatus, jobStatus } from "./job-status.ts";
import { sendAll } from "./split-input.ts";

/** Time in which a job has to be complete, in ms: as long as a queue keeps messages by default. */
const JOB_MS = 4 * 24 * 3_600_000;

/** Share of the CPU limit for a part, if each byte is a token: machines can be slow, and loading the model takes time. */
const CPU_SHARE = 1 / 4;

/** Lines of a part: its results are about half a megabyte. */
const PART_LINES = 256;

/**
 * Starts a job, or continues one. What is finished is not done again.
 *
 * @throws BertEdgeError `job_unknown` without an input; `job_changed` when the job was started with another input, model
 *   version or options
 */
export async function startJob(
  { bucket, queue }: JobsPlace,
  request: Pick<BulkJob, "name" | "encodingFormat" | "truncate">,
  source: { service: TaskService; background: Background; cpuLimitMs: number; maxInputs: number },
  now: number,
): Promise<JobStatus> {
  const { name } = request;
  const key = inputKey(name);
  const input = await inTime(bucket.head(key), key);
  if (!input) {
    throw new BertEdgeError("job_unknown", `The bucket has no input for the job ${name}.`, {
      hint: `Put a JSONL file at ${key}, then start the job.`,
    });
  }
  const lines = Math.min(PART_LINES, source.maxInputs);
  const costMs = CPU_SHARE * source.cpuLimitMs;
  const wanted = await source.service.using(source.background, async (model): Promise<BulkJob> => {
    const { manifest, version } = model;
    return {
      format: 1,
      ...request,
      run: crypto.randomUUID(),
      model: `${manifest.name}@${version}`,
      input: { etag: input.etag, bytes: input.size },
      parts: { lines, costMs, fit: predictedFit(model), maxTokens: manifest.maxTokens },
      started: new Date(now).toISOString(),
      expires: new Date(now + JOB_MS).toISOString(),
    };
  });
  const earlier = await readJob(bucket, name);
  if (earlier) assertSame(earlier, wanted);
  const job = earlier ? { ...earlier, expires: wanted.expires } : wanted;
  const status = await jobStatus(bucket, job, now);
  if (status.state === "complete") return status;
  await writeJob(bucket, job);
  await sendAll(queue, [{ kind: "split", job: name, run: job.run, part: 0, offset: 0, line: 1 }]);
  return status;
}

function assertSame(earlier: BulkJob, wanted: BulkJob): void {
  const differing = [
    ["input", earlier.input.etag, wanted.input.etag],
    ["model", earlier.model, wanted.model],
    ["encoding_format", earlier.encodingFormat, wanted.encodingFormat],
    ["truncate", earlier.truncate, wanted.truncate],
  ].find(([, before, now]) => before !== now);
  if (!differing) return;
  const [what, before, now] = differing;
  throw new BertEdgeError("job_changed", `The job ${earlier.name} was started with ${what} ${before}, not ${now}.`, {
    hint: "Start a job of another name, or delete this job's objects first, apart from its input.",
  });
}
