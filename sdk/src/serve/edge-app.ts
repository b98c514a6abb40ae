import { createApp } from "./app.ts";
import { deploymentOf, type EmbeddingsOptions } from "./deployment.ts";
import type { EmbeddingsApp } from "./embedding-routes.ts";

export type EdgeAppOptions<Env extends object> = Omit<EmbeddingsOptions<Env>, "tier">;

/**
 * Makes the app of the edge, with the routes of all tasks, `/info`, `/health` and `/ready`. A Worker exports it as the default
 * export; other runtimes call its `fetch`. Like `embeddings()`, it can be mounted in your own app, and has `embed` for your own
 * routes.
 *
 * You can add routes to this app. Under `/v1/`, `/v2/` and `/models/` they need one of the `keys`. Elsewhere they are open to
 * everyone.
 */
export function createEdgeApp<Env extends object>(options: EdgeAppOptions<Env>): EmbeddingsApp<Env> {
  return createApp(deploymentOf({ ...options, tier: "edge" }));
}
