import { type Context, Hono, type MiddlewareHandler } from "hono";
import { METHODS } from "hono/router";
import { findTargetHandler, isMiddleware } from "hono/utils/handler";
import { BertEdgeError } from "../artifact/error.ts";
import { once } from "../artifact/once.ts";
import { didYouMean, similarNames } from "../artifact/similar-names.ts";
import { backgroundOf } from "../runtime/background.ts";
import { QUEUE_HEADER } from "./contract/headers.ts";
import type { Deployment } from "./deployment.ts";
import { dialects, isVersioned, routesOf, shownRoutes } from "./dialects/index.ts";
import { addEmbeddingRoutes, type EmbeddingsApp, pathsOf } from "./embedding-routes.ts";
import { noted } from "./middleware/variables.ts";
import { answerError, ofBody } from "./on-error.ts";
import { docsPage } from "./openapi/docs-page.ts";
import { openApiDocument } from "./openapi/document.ts";
import { entrance, guards } from "./operations.ts";
import { anyone } from "./queue/caller.ts";
import { ARTIFACTS, addArtifactRoutes } from "./routes/artifacts.ts";
import type { Dialect } from "./routes/dialect.ts";
import { describeServed, infoRoute, listModels, metrics } from "./routes/status.ts";
import { withAndWithoutSlash } from "./routes/task-route.ts";

/** Makes the app of the edge or of a region. `/info` and the routes of all tasks need an API key; `/health` and `/ready` do not. */
export function createApp<Env extends object>(
  deployment: Deployment<Env>,
  known: readonly Dialect[] = dialects,
): EmbeddingsApp<Env> {
  const { service, callers, tier, operations } = deployment;
  const app = new Hono<{ Bindings: Env }>();
  app.onError(async (error, c) => answerError(await ofBody(error, c), c, known));
  if (tier === "region") app.use(reportQueue(deployment));
  app.use(...entrance(operations));
  app.notFound((c) => {
    c.error = unknownRoute(c, methodsOf(app, c.req.path), known);
    return answerError(c.error, c, known);
  });
  const { page } = deployment;
  if (page) app.get("/", async (c, next) => (await page(c.env)?.fetch(c.req.raw)) ?? next());
  app.on("GET", withAndWithoutSlash("/health"), (c) => c.json({ status: "ok" }));
  const document = once(() => new TextEncoder().encode(JSON.stringify(openApiDocument(known))));
  app.get("/openapi.json", (c) => c.body(document(), 200, { "content-type": "application/json" }));
  app.get("/docs", (c) => docsPage(c, page?.(c.env) !== undefined));
  app.on("GET", withAndWithoutSlash("/ready"), (c) => {
    const { ready, warm, failure, served } = service(c.env);
    const model = ready(backgroundOf(c));
    warm(backgroundOf(c));
    if (model) return c.json({ status: "ready", ...model });
    const code = failure();
    return c.json(code === undefined ? { status: "loading" } : { status: "failed", code, model: served.names[0] }, 503);
  });
  // Unknown paths need a key too, so that callers without one cannot find out which routes exist.
  const info = pathsOf("/info");
  const atRoot = routesOf(known)
    .filter((route) => !isVersioned(route))
    .flatMap(({ path }) => withAndWithoutSlash(path));
  const guarded = guards(callers, operations);
  for (const guard of guarded) {
    for (const path of ["/v1/*", "/v2/*", "/models/*", ...info]) app.use(path, guard);
    app.on("POST", atRoot, guard);
  }
  // Each guard counts requests and wrong keys, so the artifacts share the guards of the other routes unless they are public.
  for (const guard of deployment.artifacts?.isPublic ? guards(false, operations) : guarded)
    app.use(`${ARTIFACTS}/*`, guard);
  addArtifactRoutes(app, deployment);
  app.on("GET", info, infoRoute(deployment));
  app.on("GET", pathsOf("/v1/models"), (c) => listModels(c, service(c.env)));
  app.on("GET", pathsOf("/v1/models/:name{.+}"), (c) => describeServed(c, service(c.env)));
  if (operations.metrics)
    app.on("GET", withAndWithoutSlash(METRICS), (c) => metrics(service(c.env), tier, backgroundOf(c)));
  return addEmbeddingRoutes(app, deployment, { table: routesOf(known), entrance: [], guards: [] });
}

const METRICS = "/metrics";
/** Paths of GET routes that the error about an unknown route can suggest. */
const stateRoutes = ["/health", "/ready", "/info", "/v1/models", "/docs", "/openapi.json"];

/** Returns the methods that the routes of an app take at a path, in capitals. Middleware does not count. */
function methodsOf<Env extends object>(app: Hono<{ Bindings: Env }>, path: string): string[] {
  return METHODS.map((method) => method.toUpperCase()).filter((method) => {
    const [matches] = app.router.match(method, path);
    return matches.some(([[handler, route]]) => route.method === method && !isMiddleware(findTargetHandler(handler)));
  });
}

function unknownRoute(c: Context, allowed: readonly string[], known: readonly Dialect[]): BertEdgeError {
  const knownPaths = [...shownRoutes(known).map(({ path }) => path), ...stateRoutes];
  const { method, path } = c.req;
  if (allowed.length === 0) {
    const meant = meantPaths(path, knownPaths);
    const [nearest = path] = meant;
    return new BertEdgeError("route_unknown", `There is no route ${method} ${path}.${didYouMean(meant)}`, {
      hint:
        path !== nearest && path.endsWith(nearest)
          ? `Leave ${path.slice(0, -nearest.length)} out at the end of the client's base URL: the client adds the route.`
          : path === METRICS
            ? "The option `metrics: true` of the app adds this route."
            : "GET /docs shows all routes.",
    });
  }
  c.header("allow", allowed.join(", "));
  return new BertEdgeError("method_unsupported", `The route ${path} does not take ${method}.`, {
    hint: `Use ${allowed.join(" or ")}.`,
  });
}

/** Returns the known paths that share their end with a wrong path, the longest first. Without any, returns the most similar paths. */
function meantPaths(path: string, known: readonly string[]): string[] {
  const asked = path.toLowerCase().replace(/(\/|%2f)+/g, "/");
  const ending = known.filter((each) => each !== "/" && (asked.endsWith(each) || each.endsWith(asked)));
  return ending.length > 0 ? ending.sort((a, b) => b.length - a.length) : similarNames(asked, known);
}

/** Adds the predicted wait of the caller's next request to every response, so that the edge learns how busy a region is. */
function reportQueue<Env extends object>({ service }: Deployment<Env>): MiddlewareHandler<{ Bindings: Env }> {
  return async function reportQueue(c, next) {
    await next();
    const queueMs = service(c.env).queueMs(noted(c, "flight")?.caller ?? anyone);
    // `c.header` would copy the finished response.
    c.res.headers.set(QUEUE_HEADER, queueMs.toFixed(1));
  };
}
