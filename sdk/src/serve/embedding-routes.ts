import { Hono, type MiddlewareHandler } from "hono";
import { type InProcess, inProcess } from "./call-in-process.ts";
import { type Deployment, deploymentOf, type EmbeddingsOptions } from "./deployment.ts";
import { dialects, isVersioned, routesOf } from "./dialects/index.ts";
import { countInFlight } from "./middleware/in-flight.ts";
import { responseCache } from "./middleware/response-cache.ts";
import { answerError, throwErrors } from "./on-error.ts";
import { entrance, guards } from "./operations.ts";
import { jobPaths, jobRoutes, type QueueHandler, queueHandler } from "./routes/jobs.ts";
import { type Route, withAndWithoutSlash } from "./routes/task-route.ts";

/**
 * Returns the paths of a route, each with and without a slash at the end: the path itself, and the path after `/models/:model`, for clients
 * that cannot name a model in the body.
 */
export const pathsOf = (path: string): string[] =>
  [path, `/models/:model${path}`.replace(/\/$/, "")].flatMap(withAndWithoutSlash);

/** A Hono app with the routes of all tasks, whose models your own routes can use too. */
export interface EmbeddingsApp<Env extends object> extends Hono<{ Bindings: Env }>, InProcess<Env> {
  /** Handler of the queue of jobs: export it as `queue`, if the deployment has `jobs`. */
  readonly queue: QueueHandler<Env>;
}

/**
 * Makes a Hono app with the routes under `/v1` and `/v2`: those of bert-edge, OpenAI, Jina and Cohere. Mount it in your own app:
 *
 * ```ts
 * const bert = embeddings({ models, model: "bert-edge-mini", engine, keys: ["secret"] });
 * const app = new Hono();
 * app.use(cors());
 * app.route("/", bert);
 * app.get("/vector", async (c) => {
 *   const { embeddings } = await bert.embed(c, "to be");
 *   return c.json([...(embeddings[0] ?? [])]);
 * });
 * ```
 *
 * These routes answer their own errors, as JSON. Your app handles all other requests and errors.
 */
export function embeddings<Env extends object = object>(options: EmbeddingsOptions<Env>): EmbeddingsApp<Env> {
  const deployment = deploymentOf(options);
  const app = new Hono<{ Bindings: Env }>();
  app.onError((error, c) => answerError(error, c));
  return addEmbeddingRoutes(app, deployment, {
    table: routesOf(dialects).filter(isVersioned),
    entrance: entrance(deployment.operations),
    guards: guards(deployment.callers, deployment.operations),
  });
}

/** Routes to add to an app, and the middleware that the app does not yet run before them. */
interface AddedRoutes<Env extends object> {
  readonly table: readonly Route[];
  readonly entrance: readonly MiddlewareHandler<{ Bindings: Env }>[];
  readonly guards: readonly MiddlewareHandler<{ Bindings: Env }>[];
}

/**
 * Adds routes, each also under `/models/<name>[@version]`. The middleware is bound to the exact paths of these routes, so that
 * it does not run for other routes of an app.
 */
export function addEmbeddingRoutes<Env extends object>(
  app: Hono<{ Bindings: Env }>,
  deployment: Deployment<Env>,
  { table, entrance, guards }: AddedRoutes<Env>,
): EmbeddingsApp<Env> {
  const { limits, operations, service } = deployment;
  const paths = table.flatMap(({ path }) => pathsOf(path));
  const protect = (methods: string[], paths: string[]): void => {
    // Browsers ask with OPTIONS whether they may send these requests.
    for (const each of entrance) app.on(["OPTIONS", ...methods], paths, each);
    for (const each of [throwErrors, ...guards, countInFlight(service, limits)]) app.on(methods, paths, each);
  };
  protect(["POST"], paths);
  if (operations.cache) app.on("POST", paths, responseCache(operations.cache, deployment));
  for (const { path, handler } of table) app.on("POST", pathsOf(path), handler(deployment));
  if (deployment.jobs) {
    protect(["GET", "POST"], jobPaths);
    app.route("/", jobRoutes(deployment));
  }
  return Object.assign(app, inProcess(deployment), { queue: queueHandler(deployment) });
}
