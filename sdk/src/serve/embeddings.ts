import { Hono } from "hono";
import { type Deployment, deploymentOf, type EmbeddingsOptions } from "./deployment.ts";
import { apiKey } from "./middleware/api-key.ts";
import { limitBody } from "./middleware/limit-body.ts";
import { answerError, throwErrors } from "./middleware/on-error.ts";
import { embedRoute } from "./routes/embed.ts";
import { openAiEmbeddingsRoute } from "./routes/openai-embeddings.ts";

/**
 * Makes a Hono app with the routes `POST /v1/embed` and `POST /v1/embeddings` (OpenAI's), to mount in an app of your own:
 *
 * ```ts
 * const app = new Hono();
 * app.use(cors());
 * app.route("/", embeddings({ models, model: "bert-edge-mini", engine, keys: ["secret"] }));
 * ```
 *
 * Errors of these two routes are answered as JSON. Everything else is left to your app.
 */
export function embeddings<Env extends object = object>(options: EmbeddingsOptions<Env>): Hono<{ Bindings: Env }> {
  return embeddingRoutes(deploymentOf(options));
}

/** The middleware is bound to the two paths: with a wildcard it would also run for the routes of the app around it. */
export function embeddingRoutes<Env extends object>(deployment: Deployment<Env>): Hono<{ Bindings: Env }> {
  const { service, keys, limits } = deployment;
  const app = new Hono<{ Bindings: Env }>();
  const paths = ["/v1/embed", "/v1/embeddings"];
  app.onError(answerError);
  app.on("POST", paths, throwErrors);
  if (keys) app.on("POST", paths, apiKey(keys));
  app.on("POST", paths, limitBody(limits.maxBodyBytes));
  app.post("/v1/embed", embedRoute(service));
  app.post("/v1/embeddings", openAiEmbeddingsRoute(service));
  return app;
}
