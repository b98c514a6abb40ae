import { Hono } from "hono";
import { callersOf } from "#sdk/serve/keys/key-ring.ts";
import { countInFlight } from "#sdk/serve/middleware/in-flight.ts";
import { entrance, guards } from "#sdk/serve/operations.ts";
import type { Holder } from "#sdk/serve/queue/caller.ts";
import { inFlight } from "#sdk/serve/queue/in-flight.ts";

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
const memory = inFlight({ maxBytes: () => 32 * 1024 ** 2, refused: () => {}, now: () => performance.now() });
const service = () => ({ hold: (holder: Holder, bytes: number) => memory.hold(holder, bytes, 60_000) });
app.on("POST", path, countInFlight(service, { maxBodyBytes: 1_000_000 }));
app.post(path, async (c) => {
  const { inputs } = await c.req.json<{ inputs?: unknown }>();
  return Array.isArray(inputs) ? c.body(c.env.ANSWER, 200, { "content-type": "application/json" }) : c.body(null, 400);
});
app.get("/ready", (c) => c.body(null));

/** The bare handler behind the middleware of the app: request id, key, limits, and size of the body. */
export default app;
