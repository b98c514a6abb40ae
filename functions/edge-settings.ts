import { type EdgeAppOptions, type HttpDialect, type Region, regionTier, type WorkersAiBinding } from "bert-edge/serve";
import { type R2Bucket, r2Store } from "bert-edge/storage/r2";
import { s3Store } from "bert-edge/storage/s3";
import { type S3Env, s3Settings } from "bert-edge/storage/s3-settings";

/** The Worker's variables, secrets and bindings. */
interface Env extends S3Env {
  /** The name of the published model. */
  MODEL: string;
  /** Comma-separated API keys. Every request must send one of them. */
  API_KEYS?: string;
  /** R2 bucket with the models. Without this binding, the Worker reads the models over the S3 protocol. */
  MODELS?: R2Bucket;
  /** URL and API key of the region. Without a URL, the edge answers all requests itself. */
  REGION_URL?: string;
  REGION_KEY?: string;
  /** What the region understands: `bert-edge`, `tei` or `openai`. Without it, `bert-edge`. */
  REGION_DIALECT?: HttpDialect;
  /** Keys of an AWS user who may call the region. Without them, requests are not signed. */
  REGION_AWS_ACCESS_KEY_ID?: string;
  REGION_AWS_SECRET_ACCESS_KEY?: string;
  /** `lambda` or `sagemaker`. Without it, `lambda`. */
  REGION_AWS_SERVICE?: string;
  /** Binding of Workers AI, which can be the region instead of a URL. */
  AI?: WorkersAiBinding;
  /** The model's name in the catalogue of Workers AI, or on a server of the dialect `openai`. */
  REGION_MODEL?: string;
  /** `mean` or `cls`, for models of Workers AI that can do both. */
  REGION_POOLING?: "mean" | "cls";
}

/** Options of the edge app, except for its engine. */
export const settings: Omit<EdgeAppOptions<Env>, "engine"> = {
  model: (env) => env.MODEL,
  models: (env) => (env.MODELS ? r2Store(env.MODELS, { prefix: env.S3_PREFIX ?? "" }) : s3Store(s3Settings(env))),
  keys: (env) => env.API_KEYS?.split(",") ?? [],
  /** CPU time per request in ms: 10 on the free Workers plan, 30,000 on the paid plan unless wrangler.toml changes it. */
  cpuLimitMs: 30_000,
  region: regionOf,
};

function regionOf(env: Env): Region | undefined {
  const { REGION_URL: url, REGION_KEY: key, REGION_DIALECT: dialect, REGION_MODEL: model } = env;
  if (url) return regionTier({ dialect, url, key, model, aws: awsAccess(env) });
  if (env.AI && model) return regionTier({ dialect: "workers-ai", ai: env.AI, model, pooling: env.REGION_POOLING });
  return undefined;
}

function awsAccess({
  REGION_AWS_ACCESS_KEY_ID: accessKeyId,
  REGION_AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
  REGION_AWS_SERVICE: service,
}: Env) {
  return accessKeyId ? { accessKeyId, secretAccessKey, service } : undefined;
}
