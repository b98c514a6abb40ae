import { serve } from "@hono/node-server";
import { ortNodeEngine, type Provider } from "bert-edge/engine/ort-node";
import { createRegionApp } from "bert-edge/serve";
import { s3Store } from "bert-edge/storage/s3";
import { s3Settings } from "bert-edge/storage/s3-settings";
import { handle } from "hono/aws-lambda";

const { MODEL, API_KEYS, PROVIDERS, PORT, AWS_LAMBDA_FUNCTION_NAME, ...env } = process.env;

const app = createRegionApp({
  model: MODEL ?? "bert-edge-mini",
  models: s3Store(s3Settings(env)),
  engine: ortNodeEngine({ providers: (PROVIDERS ?? "cuda,cpu").split(",") as Provider[] }),
  keys: API_KEYS?.split(",") ?? [],
});

/** For AWS Lambda; everywhere else this is a server. */
export const handler = handle(app);

if (!AWS_LAMBDA_FUNCTION_NAME) {
  const server = serve({ fetch: app.fetch, port: Number(PORT ?? 8080) }, ({ port }) =>
    console.log(`region: http://localhost:${port}`),
  );
  // The first process of a container ignores signals that it does not handle.
  process.once("SIGTERM", () => server.close());
}
