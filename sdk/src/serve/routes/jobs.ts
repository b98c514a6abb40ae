import { type Context, Hono } from "hono";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { backgroundOf, type CallContext } from "../../runtime/background.ts";
import type { JobsBatch, JobsPlace } from "../bulk/bindings.ts";
import { handleBatch } from "../bulk/handle-batch.ts";
import { type BulkJob, type PartKind, readJob, seesJob } from "../bulk/job.ts";
import { jobStatus } from "../bulk/job-status.ts";
import { partContents } from "../bulk/parts.ts";
import { startJob } from "../bulk/start-job.ts";
import { defaultsFor } from "../call-defaults.ts";
import { EncodingFormat, objectOf, Truncate } from "../contract/fields.ts";
import type { Deployment } from "../deployment.ts";
import { jsonBody } from "../middleware/body.ts";
import { noted } from "../middleware/variables.ts";
import { heldWhileRead } from "./in-parts.ts";
import { withAndWithoutSlash } from "./task-route.ts";

/** The body of `POST /v1/jobs/<name>`. */
const JobRequest = objectOf({
  encoding_format: v.optional(EncodingFormat),
  /** Whether and where to cut texts that are too long instead of setting them aside. Default: as the key or the deployment says. */
  truncate: Truncate,
});

/** Valid names of jobs. The names become parts of keys in a bucket. */
const JSON_LINES = { "content-type": "application/jsonl" };

const JOB_NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;

const jobPath = withAndWithoutSlash("/v1/jobs/:job");
const linesPath = withAndWithoutSlash("/v1/jobs/:job/:lines{results|rejected}");

/** Paths of all routes of jobs. */
export const jobPaths: string[] = [...jobPath, ...linesPath];

/** Makes the routes that start or continue a job, report its progress, and return its results and rejected lines. */
export function jobRoutes<Env extends object>(deployment: Deployment<Env>): Hono<{ Bindings: Env }> {
  const { service, defaults, limits, cpuLimitMs } = deployment;
  const app = new Hono<{ Bindings: Env }>();

  app.on("POST", jobPath, async (c) => {
    const place = placeOf(c, deployment);
    const name = nameOf(c);
    const hasBody = c.req.header("content-type") !== undefined;
    const body = hasBody ? await jsonBody(c, JobRequest, { hint: 'Send {"truncate": true}, or no body.' }) : {};
    const { truncate: byDefault = false } = defaultsFor(noted(c, "key"), defaults);
    const { encoding_format: encodingFormat = "float", truncate = byDefault } = body;
    const background = backgroundOf(c);
    const source = { service: service(c.env), background, cpuLimitMs, maxInputs: limits.maxInputs };
    const request = { name, encodingFormat, truncate };
    const status = await startJob(place, request, noted(c, "key"), source, Date.now());
    return c.json(status, status.state === "complete" ? 200 : 202);
  });

  app.on("GET", jobPath, async (c) => {
    const { bucket } = placeOf(c, deployment);
    return c.json(await jobStatus(bucket, await knownJob(c, bucket), Date.now()));
  });

  app.on("GET", linesPath, async (c) => {
    const { bucket } = placeOf(c, deployment);
    const job = await knownJob(c, bucket);
    const { state, parts, bytes, totalBytes } = await jobStatus(bucket, job, Date.now());
    if (state !== "complete") {
      const what = `The job ${job.name} is ${state}: ${bytes} of ${totalBytes} bytes of its input are done.`;
      const hint = "Ask again later. If the job stands still, start it again: finished parts are kept.";
      throw new BertEdgeError("job_incomplete", what, { hint });
    }
    // Opens nothing for HEAD: without a body, nothing would close it.
    if (c.req.method === "HEAD") return c.body(null, 200, JSON_LINES);
    const lines = partContents(bucket, job, c.req.param("lines") as PartKind, parts);
    return c.body(heldWhileRead(lines, noted(c, "flight")?.hold), 200, JSON_LINES);
  });
  return app;
}

/** @throws BertEdgeError `setting_invalid` */
export function placeOf<Env extends object>({ env }: { env: Env }, { jobs }: Pick<Deployment<Env>, "jobs">): JobsPlace {
  const place = jobs?.(env);
  if (place) return place;
  throw new BertEdgeError("setting_invalid", "This deployment has no bucket and queue for jobs.", {
    hint: "Add an R2 bucket and a queue to wrangler.toml, and return both from the option `jobs`.",
  });
}

/** @throws BertEdgeError `request_invalid` */
function nameOf(c: Context): string {
  const name = c.req.param("job") ?? "";
  if (JOB_NAME.test(name)) return name;
  throw new BertEdgeError("request_invalid", "The job's name is not valid.", {
    hint: "Use 1 to 64 of the characters a-z A-Z 0-9 . _ - and begin with a letter or a digit.",
  });
}

/** Reads a job of the caller. Jobs of other keys count as unknown, so that nobody can find out their names. */
async function knownJob(c: Context, bucket: JobsPlace["bucket"]): Promise<BulkJob> {
  const name = nameOf(c);
  const job = await readJob(bucket, name);
  if (job && seesJob(noted(c, "key"), job)) return job;
  throw new BertEdgeError("job_unknown", `This caller has started no job ${name}.`, {
    hint: `Put its input at jobs/${name}/input.jsonl in the bucket, then send POST /v1/jobs/${name}.`,
  });
}

/** Handles the messages that a Worker gets from the queue of jobs. */
export type QueueHandler<Env> = (
  batch: JobsBatch,
  env: Env,
  executionCtx: CallContext<Env>["executionCtx"],
) => Promise<void>;

export const queueHandler =
  <Env extends object>(deployment: Deployment<Env>): QueueHandler<Env> =>
  async (batch, env, executionCtx) => {
    const { service, tier, callers } = deployment;
    const place = placeOf({ env }, deployment);
    const background = backgroundOf({ executionCtx });
    const keys = callers && { current: () => callers.current(env, background), begin: callers.begin };
    await handleBatch(batch, { place, service: service(env), tier, keys, background });
  };
