import { BertEdgeError } from "../../artifact/error.ts";
import { sentenceEncoder } from "../../artifact/manifest.ts";
import type { Background } from "../../runtime/background.ts";
import { predictedFit } from "../answering/plan.ts";
import type { TaskService } from "../service.ts";
import { inTime, type JobsPlace } from "./bindings.ts";
import { type BulkJob, inputKey, type JobCaller, readJob, seesJob, writeJob } from "./job.ts";
import { type JobStatus, jobStatus } from "./job-status.ts";
import { sendAll } from "./split-input.ts";

/** Time in which a job has to be complete, in ms: as long as a queue keeps messages by default. */
const JOB_MS = 4 * 24 * 3_600_000;

/** Share of the CPU limit that a part takes if each byte is a token. Slow machines and loading the model need the rest. */
const CPU_SHARE = 1 / 4;

/** Maximum number of lines of a part. Its results are then about half a megabyte. */
const PART_LINES = 256;

/**
 * Starts a job, or continues it without repeating finished parts. A new job belongs to the caller's key, and so does a job
 * without an owner once this caller continues it.
 *
 * @throws BertEdgeError `job_unknown` if there is no input, and with the same message if the job belongs to another key;
 *   `task_unsupported` if the model embeds no texts; `job_changed` when the job was started with another input, model version or
 *   options; the errors of loading the model
 */
export async function startJob(
  place: JobsPlace,
  request: Pick<BulkJob, "name" | "encodingFormat" | "truncate">,
  caller: JobCaller,
  source: { service: TaskService; background: Background; cpuLimitMs: number; maxInputs: number },
  now: number,
): Promise<JobStatus> {
  const { bucket, queue } = place;
  const { name } = request;
  // Loads the model first: this can take long, and another caller could start a job of this name meanwhile.
  const served = await source.service.using(source.background, async (model) => ({
    model: `${model.manifest.name}@${model.version}`,
    fit: predictedFit(model),
    maxTokens: sentenceEncoder(model.manifest).maxTokens,
  }));
  const key = inputKey(name);
  const input = await inTime(bucket.head(key), key);
  const earlier = await readJob(bucket, name);
  if (!input || (earlier && !seesJob(caller, earlier))) {
    throw new BertEdgeError("job_unknown", `There is no input that this caller can start the job ${name} with.`, {
      hint: `Put a JSONL file at ${key}, then start the job. If it is there, the name is taken: choose another one.`,
    });
  }
  const { model, fit, maxTokens } = served;
  const lines = Math.min(PART_LINES, source.maxInputs);
  const wanted: BulkJob = {
    format: 1,
    ...request,
    owner: caller?.name,
    run: crypto.randomUUID(),
    model,
    input: { etag: input.etag, bytes: input.size },
    parts: { lines, costMs: CPU_SHARE * source.cpuLimitMs, fit, maxTokens },
    started: new Date(now).toISOString(),
    expires: new Date(now + JOB_MS).toISOString(),
  };
  if (earlier) assertSame(earlier, wanted);
  const job = earlier ? { ...earlier, owner: earlier.owner ?? wanted.owner, expires: wanted.expires } : wanted;
  const status = await jobStatus(bucket, job, now);
  if (status.state === "complete") return status;
  // Two keys can start a job of the same name at once. The second key tries again, and finds the job of the first.
  if (!(await writeJob(bucket, job, !earlier))) return startJob(place, request, caller, source, now);
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
