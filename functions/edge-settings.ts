import { type EdgeAppOptions, type JobsBucket, type JobsQueue, type RegionEnv, regionFromEnv } from "bert-edge/serve";
import { r2Store } from "bert-edge/storage/r2";
import { s3Store } from "bert-edge/storage/s3";
import { type S3Env, s3Settings } from "bert-edge/storage/s3-settings";

/** The Worker's variables, secrets and bindings. */
interface Env extends S3Env, RegionEnv {
  /** The name of the published model. Several names are separated by commas; the first is the default. */
  MODEL: string;
  /** Comma-separated API keys. Every request must send one of them. */
  API_KEYS?: string;
  /** R2 bucket with the models. Without this binding, the Worker reads the models over the S3 protocol. */
  MODELS?: JobsBucket;
  /** Queue of jobs, whose inputs and results are in the bucket MODELS. */
  JOBS?: JobsQueue;
}

/** Options of the edge app, except for its engine. */
export const settings: Omit<EdgeAppOptions<Env>, "engine"> = {
  model: (env) => env.MODEL.split(","),
  models: (env) => (env.MODELS ? r2Store(env.MODELS, { prefix: env.S3_PREFIX ?? "" }) : s3Store(s3Settings(env))),
  keys: (env) => env.API_KEYS?.split(",") ?? [],
  jobs: ({ MODELS, JOBS }) => (MODELS && JOBS ? { bucket: MODELS, queue: JOBS } : undefined),
  /** CPU time per request in ms: 10 on the free Workers plan, 30,000 on the paid plan unless wrangler.toml changes it. */
  cpuLimitMs: 30_000,
  region: regionFromEnv,
};
