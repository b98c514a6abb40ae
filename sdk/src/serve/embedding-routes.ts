import { Hono } from "hono";
import { type Deployment, deploymentOf, type EmbeddingsOptions } from "./deployment.ts";
import { apiKey } from "./middleware/api-key.ts";
import { limitBody } from "./middleware/limit-body.ts";
import { answerError, throwErrors } from "./middleware/on-error.ts";
import { embedRoute } from "./routes/embed.ts";
import { openAiEmbeddingsRoute } from "./routes/openai-embeddings.ts";

/**
 * Makes a Hono app with the routes `POST /v1/embed` and `POST /v1/embeddings` (OpenAI's). Mount it in your own app:
 *
 * ```ts
 * const app = new Hono();
 * app.use(cors());
 * app.route("/", embeddings({ models, model: "bert-edge-mini", engine, keys: ["secret"] }));
 * ```
 *
 * These two routes answer their own errors, as JSON. Your app handles all other requests and errors.
 */
export function embeddings<Env extends object = object>(options: EmbeddingsOptions<Env>): Hono<{ Bindings: Env }> {
  return embeddingRoutes(deploymentOf(options));
}

/**
 * Makes the two routes. To add a route, write its handler in `routes/` and its schema in `contract/`, and list the
 * route here.
 *
 * The middleware is bound to the exact paths of these routes, so that it does not run for other routes of an app.
 */
export function embeddingRoutes<Env extends object>(deployment: Deployment<Env>): Hono<{ Bindings: Env }> {
  const { service, keys, limits } = deployment;
  const app = new Hono<{ Bindings: Env }>();
  const paths = ["/v1/embed", "/v1/embeddings"];
  app.onError(answerError);
  app.on("POST", paths, throwErrors);
  if (keys !== false) app.on("POST", paths, apiKey(keys));
  app.on("POST", paths, limitBody(limits.maxBodyBytes));
  app.post("/v1/embed", embedRoute(service));
  app.post("/v1/embeddings", openAiEmbeddingsRoute(service));
  return app;
}
