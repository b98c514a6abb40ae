import { Hono } from "hono";
import { callersOf } from "#sdk/serve/keys/key-ring.ts";
import { limitBody } from "#sdk/serve/middleware/body.ts";
import { entrance, guards } from "#sdk/serve/operations.ts";

interface Env {
  readonly ANSWER: string;
  readonly API_KEYS: string;
}

const app = new Hono<{ Bindings: Env }>();
const path = "/v1/embed";
for (const each of [
  ...entrance<Env>({}),
  ...guards<Env>(
    callersOf((env) => [env.API_KEYS]),
    {},
  ),
])
  app.on("POST", path, each);
app.on("POST", path, limitBody(1_000_000));
app.post(path, async (c) => {
  const { inputs } = await c.req.json<{ inputs?: unknown }>();
  return Array.isArray(inputs) ? c.body(c.env.ANSWER, 200, { "content-type": "application/json" }) : c.body(null, 400);
});
app.get("/ready", (c) => c.body(null));

/** The bare handler behind the middleware of the app: request id, key, limits, and size of the body. */
export default app;
