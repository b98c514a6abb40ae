import { type EdgeAppOptions, regionTier } from "bert-edge/serve";
import { type R2Bucket, r2Store } from "bert-edge/storage/r2";
import { s3Store } from "bert-edge/storage/s3";
import { type S3Env, s3Settings } from "bert-edge/storage/s3-settings";

interface Env extends S3Env {
  MODEL: string;
  /** Comma-separated; requests carry one of them. */
  API_KEYS?: string;
  /** Models come from this bucket when it is bound, and over the S3 protocol otherwise. */
  MODELS?: R2Bucket;
  REGION_URL?: string;
  REGION_KEY?: string;
}

/** All of the edge but its engine. */
export const settings: Omit<EdgeAppOptions<Env>, "engine"> = {
  model: (env) => env.MODEL,
  models: (env) => (env.MODELS ? r2Store(env.MODELS, { prefix: env.S3_PREFIX ?? "" }) : s3Store(s3Settings(env))),
  keys: (env) => env.API_KEYS?.split(",") ?? [],
  region: (env) => (env.REGION_URL ? regionTier({ url: env.REGION_URL, key: env.REGION_KEY ?? "" }) : undefined),
};
