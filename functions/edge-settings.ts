import { type EdgeAppOptions, regionTier } from "bert-edge/serve";
import { type R2Bucket, r2Store } from "bert-edge/storage/r2";
import { s3Store } from "bert-edge/storage/s3";
import { type S3Env, s3Settings } from "bert-edge/storage/s3-settings";

/** The Worker's variables, secrets and bindings. */
interface Env extends S3Env {
  /** The name of the published model. */
  MODEL: string;
  /** A comma-separated list; every request must carry one of these keys. */
  API_KEYS?: string;
  /** The bucket with the models. Without this binding, they are read over the S3 protocol. */
  MODELS?: R2Bucket;
  /** The region's URL and API key. Without a URL, the edge answers alone. */
  REGION_URL?: string;
  REGION_KEY?: string;
}

/** Every option of the edge except its engine. */
export const settings: Omit<EdgeAppOptions<Env>, "engine"> = {
  model: (env) => env.MODEL,
  models: (env) => (env.MODELS ? r2Store(env.MODELS, { prefix: env.S3_PREFIX ?? "" }) : s3Store(s3Settings(env))),
  keys: (env) => env.API_KEYS?.split(",") ?? [],
  region: (env) => (env.REGION_URL ? regionTier({ url: env.REGION_URL, key: env.REGION_KEY ?? "" }) : undefined),
};
