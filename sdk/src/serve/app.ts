import { Hono } from "hono";
import { BertEdgeError } from "../artifact/error.ts";
import type { Deployment } from "./deployment.ts";
import { type EmbeddingsApp, embeddingRoutes } from "./embedding-routes.ts";
import { apiKey } from "./middleware/api-key.ts";
import { limitKey } from "./middleware/limit-key.ts";
import { answerError } from "./middleware/on-error.ts";
import { reportQueue } from "./middleware/report-queue.ts";
import { requestId } from "./middleware/request-id.ts";
import { methodsOf } from "./routes/methods-of.ts";
import { backgroundOf } from "./routes/respond.ts";
import { withAndWithoutSlash } from "./routes/with-and-without-slash.ts";

/** Makes the app of both tiers, with `/health`, `/ready`, and the embeddings routes behind an API key. */
export function createApp<Env extends object>(deployment: Deployment<Env>): EmbeddingsApp<Env> {
  const { service, keys, tier } = deployment;
  const app = new Hono<{ Bindings: Env }>();
  app.onError(answerError);
  if (tier === "region") app.use(reportQueue(service));
  app.use(requestId);
  app.notFound((c) => {
    const allowed = methodsOf(app, c.req.path);
    if (allowed.length > 0) {
      c.header("allow", allowed.join(", "));
      throw new BertEdgeError("method_unsupported", `The route ${c.req.path} does not take ${c.req.method}.`, {
        hint: `Use ${allowed.join(" or ")}.`,
      });
    }
    throw new BertEdgeError("route_unknown", `There is no route ${c.req.method} ${c.req.path}.`, {
      hint: "Use POST /v1/embed, POST /v1/embeddings, GET /health or GET /ready.",
    });
  });
  app.on("GET", withAndWithoutSlash("/health"), (c) => c.json({ status: "ok" }));
  app.on("GET", withAndWithoutSlash("/ready"), (c) => {
    const model = service(c.env).ready(backgroundOf(c));
    return model ? c.json({ status: "ready", ...model }) : c.json({ status: "loading" }, 503);
  });
  // Unknown paths need a key too, so that callers without one cannot find out which routes exist.
  if (keys !== false) app.use("/v1/*", apiKey(keys), limitKey());
  const routes = embeddingRoutes({ ...deployment, keys: false });
  return Object.assign(app.route("/", routes), { embed: routes.embed, queue: routes.queue });
}
