import type { AliasesEnv, EdgeAppOptions, EdgeBindings, KeysEnv, RegionEnv } from "bert-edge/serve";
import { aliasesFromEnv, keysFromEnv, regionFromEnv } from "bert-edge/serve";
import { r2Store } from "bert-edge/storage/r2";
import { s3Store } from "bert-edge/storage/s3";
import { type S3Env, s3Settings } from "bert-edge/storage/s3-settings";
import { type SignersEnv, signedStore, signersFromEnv } from "bert-edge/storage/signed";

/** The Worker's variables, secrets and bindings. Without the binding MODELS, it reads models over the S3 protocol. */
interface Env extends EdgeBindings, S3Env, SignersEnv, RegionEnv, KeysEnv, AliasesEnv {
  /** The name of the published model. Several names are separated by commas; the first is the default. */
  MODEL: string;
}

const bucket = (env: Env) =>
  env.MODELS ? r2Store(env.MODELS, { prefix: env.S3_PREFIX ?? "" }) : s3Store(s3Settings(env));

/** Options of the edge app, except for its engine. */
export const settings: Omit<EdgeAppOptions<Env>, "engine"> = {
  model: (env) => env.MODEL.split(","),
  aliases: aliasesFromEnv,
  models: (env) => signedStore(bucket(env), signersFromEnv(env)),
  keys: (env) => keysFromEnv(env, bucket(env)),
  jobs: ({ MODELS, JOBS }) => (MODELS && JOBS ? { bucket: MODELS, queue: JOBS } : undefined),
  /** CPU time per request in ms: 10 on the free Workers plan, 30,000 on the paid plan unless wrangler.toml changes it. */
  cpuLimitMs: 30_000,
  region: regionFromEnv,
  /** Callers with a key may run the model in their browser, as the page at `/` does. Remove this line to keep the weights. */
  artifacts: "key",
  page: ({ PAGE }) => PAGE,
  rateLimit: ({ RATE_LIMITER: binding }) => binding && { requestsPerMinute: 600, binding },
  analytics: ({ REQUESTS }) => REQUESTS,
};
