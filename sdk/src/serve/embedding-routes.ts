import { Hono } from "hono";
import { type Deployment, deploymentOf, type EmbeddingsOptions } from "./deployment.ts";
import { type EmbedInProcess, embedInProcess } from "./embed-in-process.ts";
import { apiKey } from "./middleware/api-key.ts";
import { limitBody } from "./middleware/limit-body.ts";
import { answerError, throwErrors } from "./middleware/on-error.ts";
import { requestId } from "./middleware/request-id.ts";
import { type QueueHandler, queueHandler } from "./queue-handler.ts";
import { classifyRoute } from "./routes/classify.ts";
import { embedRoute } from "./routes/embed.ts";
import { jobPaths, jobRoutes } from "./routes/jobs.ts";
import { openAiEmbeddingsRoute } from "./routes/openai-embeddings.ts";
import { outputsRoute } from "./routes/outputs.ts";
import { rerankRoute } from "./routes/rerank.ts";
import { similarityRoute } from "./routes/similarity.ts";
import { sparseRoute } from "./routes/sparse.ts";
import { taskHandler } from "./routes/task-route.ts";
import { tokenVectorsRoute } from "./routes/token-vectors.ts";
import { withAndWithoutSlash } from "./routes/with-and-without-slash.ts";
import { zeroShotRoute } from "./routes/zero-shot.ts";

/** A Hono app with the embedding routes, whose model your own routes can use too. */
export interface EmbeddingsApp<Env extends object> extends Hono<{ Bindings: Env }> {
  readonly embed: EmbedInProcess<Env>;
  /** Handler of the queue of jobs: export it as `queue`, if the deployment has `jobs`. */
  readonly queue: QueueHandler<Env>;
}

/**
 * Makes a Hono app with the routes `POST /v1/embed` and `POST /v1/embeddings` (OpenAI's). Mount it in your own app:
 *
 * ```ts
 * const bert = embeddings({ models, model: "bert-edge-mini", engine, keys: ["secret"] });
 * const app = new Hono();
 * app.use(cors());
 * app.route("/", bert);
 * app.get("/vector", async (c) => {
 *   const { vectors } = await bert.embed(c, ["to be"]);
 *   return c.json([...(vectors[0] ?? [])]);
 * });
 * ```
 *
 * These two routes answer their own errors, as JSON. Your app handles all other requests and errors.
 */
export function embeddings<Env extends object = object>(options: EmbeddingsOptions<Env>): EmbeddingsApp<Env> {
  return embeddingRoutes(deploymentOf(options));
}

/**
 * Makes the two routes. To add a route, write its handler in `routes/` and its schema in `contract/`, and list the
 * route here.
 *
 * The middleware is bound to the exact paths of these routes, so that it does not run for other routes of an app.
 */
export function embeddingRoutes<Env extends object>(deployment: Deployment<Env>): EmbeddingsApp<Env> {
  const { keys, limits } = deployment;
  const app = new Hono<{ Bindings: Env }>();
  const routes = {
    "/v1/classify": taskHandler(deployment, classifyRoute),
    "/v1/embed": taskHandler(deployment, embedRoute),
    "/v1/embeddings": taskHandler(deployment, openAiEmbeddingsRoute),
    "/v1/outputs": taskHandler(deployment, outputsRoute),
    "/v1/rerank": taskHandler(deployment, rerankRoute),
    "/v1/similarity": taskHandler(deployment, similarityRoute),
    "/v1/sparse": taskHandler(deployment, sparseRoute),
    "/v1/token-vectors": taskHandler(deployment, tokenVectorsRoute),
    "/v1/zero-shot": taskHandler(deployment, zeroShotRoute),
  };
  const paths = Object.keys(routes).flatMap(withAndWithoutSlash);
  app.onError(answerError);
  app.on("POST", paths, requestId);
  app.on("POST", paths, throwErrors);
  if (keys !== false) app.on("POST", paths, apiKey(keys));
  app.on("POST", paths, limitBody(limits.maxBodyBytes));
  for (const [path, route] of Object.entries(routes)) app.on("POST", withAndWithoutSlash(path), route);
  if (deployment.jobs) {
    const methods = ["GET", "POST"];
    app.on(methods, jobPaths, requestId);
    app.on(methods, jobPaths, throwErrors);
    if (keys !== false) app.on(methods, jobPaths, apiKey(keys));
    app.on(methods, jobPaths, limitBody(limits.maxBodyBytes));
    app.route("/", jobRoutes(deployment));
  }
  return Object.assign(app, { embed: embedInProcess(deployment), queue: queueHandler(deployment) });
}
