import type { AnalyticsDataset, JobsBucket, JobsQueue, KeysEnv, RateLimiter, RegionEnv } from "bert-edge/serve";
import { type EdgeAppOptions, keysFromEnv, regionFromEnv } from "bert-edge/serve";
import { r2Store } from "bert-edge/storage/r2";
import { s3Store } from "bert-edge/storage/s3";
import { type S3Env, s3Settings } from "bert-edge/storage/s3-settings";

/** The Worker's variables, secrets and bindings. */
interface Env extends S3Env, RegionEnv, KeysEnv {
  /** The name of the published model. Several names are separated by commas; the first is the default. */
  MODEL: string;
  /** R2 bucket with the models. Without this binding, the Worker reads the models over the S3 protocol. */
  MODELS?: JobsBucket;
  /** Queue of jobs, whose inputs and results are in the bucket MODELS. */
  JOBS?: JobsQueue;
  RATE_LIMITER?: RateLimiter;
  /** Dataset of Analytics Engine. */
  REQUESTS?: AnalyticsDataset;
}

const store = (env: Env) =>
  env.MODELS ? r2Store(env.MODELS, { prefix: env.S3_PREFIX ?? "" }) : s3Store(s3Settings(env));

/** Options of the edge app, except for its engine. */
export const settings: Omit<EdgeAppOptions<Env>, "engine"> = {
  model: (env) => env.MODEL.split(","),
  models: store,
  keys: (env) => keysFromEnv(env, store(env)),
  jobs: ({ MODELS, JOBS }) => (MODELS && JOBS ? { bucket: MODELS, queue: JOBS } : undefined),
  /** CPU time per request in ms: 10 on the free Workers plan, 30,000 on the paid plan unless wrangler.toml changes it. */
  cpuLimitMs: 30_000,
  region: regionFromEnv,
  rateLimit: ({ RATE_LIMITER: binding }) => binding && { requestsPerMinute: 600, binding },
  analytics: ({ REQUESTS }) => REQUESTS,
};
