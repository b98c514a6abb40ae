import type { Hono } from "hono";
import { createApp } from "./app.ts";
import { deploymentOf, type EmbeddingsOptions } from "./deployment.ts";

export type EdgeAppOptions<Env extends object> = Omit<EmbeddingsOptions<Env>, "tier">;

/**
 * Makes the app of the edge, with the routes `/v1/embed`, `/v1/embeddings`, `/health` and `/ready`. A Worker exports it as
 * the default export; other runtimes call its `fetch`.
 */
export function createEdgeApp<Env extends object>(options: EdgeAppOptions<Env>): Hono<{ Bindings: Env }> {
  return createApp(deploymentOf({ ...options, tier: "edge" }));
}
