import { type EdgeAppOptions, type JobsBucket, type JobsQueue, regionTier } from "bert-edge/serve";
import { r2Store } from "bert-edge/storage/r2";
import { s3Store } from "bert-edge/storage/s3";
import { type S3Env, s3Settings } from "bert-edge/storage/s3-settings";

/** The Worker's variables, secrets and bindings. */
interface Env extends S3Env {
  /** The name of the published model. */
  MODEL: string;
  /** Comma-separated API keys. Every request must send one of them. */
  API_KEYS?: string;
  /** R2 bucket with the models. Without this binding, the Worker reads the models over the S3 protocol. */
  MODELS?: JobsBucket;
  /** Queue of jobs, whose inputs and results are in the bucket MODELS. */
  JOBS?: JobsQueue;
  /** URL and API key of the region. Without a URL, the edge answers all requests itself. */
  REGION_URL?: string;
  REGION_KEY?: string;
  /** Keys of an AWS user who may call the region's function URL. Without them, requests are not signed. */
  REGION_AWS_ACCESS_KEY_ID?: string;
  REGION_AWS_SECRET_ACCESS_KEY?: string;
}

/** Options of the edge app, except for its engine. */
export const settings: Omit<EdgeAppOptions<Env>, "engine"> = {
  model: (env) => env.MODEL,
  models: (env) => (env.MODELS ? r2Store(env.MODELS, { prefix: env.S3_PREFIX ?? "" }) : s3Store(s3Settings(env))),
  keys: (env) => env.API_KEYS?.split(",") ?? [],
  jobs: ({ MODELS, JOBS }) => (MODELS && JOBS ? { bucket: MODELS, queue: JOBS } : undefined),
  /** CPU time per request in ms: 10 on the free Workers plan, 30,000 on the paid plan unless wrangler.toml changes it. */
  cpuLimitMs: 30_000,
  region: (env) =>
    env.REGION_URL ? regionTier({ url: env.REGION_URL, key: env.REGION_KEY ?? "", aws: awsAccess(env) }) : undefined,
};

function awsAccess({ REGION_AWS_ACCESS_KEY_ID: accessKeyId, REGION_AWS_SECRET_ACCESS_KEY: secretAccessKey = "" }: Env) {
  return accessKeyId ? { accessKeyId, secretAccessKey } : undefined;
}
