import { availableParallelism } from "node:os";
import { ortNodeEngine, type Provider } from "bert-edge/engine/ort-node";
import { aliasesFromEnv, createRegionApp, keysFromEnv } from "bert-edge/serve";
import { fsStore } from "bert-edge/storage/fs";
import { s3Store } from "bert-edge/storage/s3";
import { s3Settings } from "bert-edge/storage/s3-settings";
import { signedStore, signersFromEnv } from "bert-edge/storage/signed";
import { handle } from "hono/aws-lambda";
import { serveUntilTerminated } from "./serve-until-terminated.ts";

const { MODEL, MODELS_FOLDER, PROVIDERS, SESSIONS, HOST, PORT = 8080, STOP_DELAY_MS = 0, ...env } = process.env;
const bucket = MODELS_FOLDER ? fsStore(MODELS_FOLDER) : s3Store(s3Settings(env));

/** Hono app of the region. Environment variables configure it. It reads models from MODELS_FOLDER, or over the S3 protocol. */
const app = createRegionApp({
  model: (MODEL ?? "bert-edge-mini").split(","),
  aliases: aliasesFromEnv(env),
  models: signedStore(bucket, signersFromEnv(env)),
  engine: ortNodeEngine({
    providers: (PROVIDERS ?? "cuda,cpu").split(",") as Provider[],
    // Requests that are computed side by side on the CPU. Each has its own copy of the weights.
    sessions: Number(SESSIONS ?? availableParallelism()),
  }),
  keys: () => keysFromEnv(env, bucket),
  // `/ready` answers 200 when a text of 128 tokens has been computed.
  warmUp: [[1, 128]],
  metrics: env.METRICS === "true",
  // SageMaker checks who calls, so its routes need no key. Set this only there.
  sagemaker: env.SAGEMAKER === "true",
});

/** Entry point of AWS Lambda. */
export const handler = handle(app);

// Outside AWS Lambda, this file starts a server.
if (!env.AWS_LAMBDA_FUNCTION_NAME) {
  serveUntilTerminated({ fetch: app.fetch, hostname: HOST, port: Number(PORT), stopDelayMs: Number(STOP_DELAY_MS) });
}
