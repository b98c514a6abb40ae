import { createApp } from "./app.ts";
import type { JobsBucket, JobsQueue } from "./bulk/bindings.ts";
import { deploymentOf, type EmbeddingsOptions, type PageBinding } from "./deployment.ts";
import type { EmbeddingsApp } from "./embedding-routes.ts";
import type { RateLimiter } from "./middleware/limits.ts";
import type { AnalyticsDataset } from "./middleware/log-request.ts";

/** The bindings of wrangler.toml that the Worker can use. */
export interface EdgeBindings {
  /** R2 bucket with the models, and with the inputs and results of jobs. */
  MODELS?: JobsBucket;
  /** Queue of jobs. */
  JOBS?: JobsQueue;
  /** Static assets with the page at `/`. */
  PAGE?: PageBinding;
  RATE_LIMITER?: RateLimiter;
  /** Dataset of Analytics Engine. */
  REQUESTS?: AnalyticsDataset;
}

export type EdgeAppOptions<Env extends object> = Omit<EmbeddingsOptions<Env>, "tier">;

/**
 * Makes the app of the edge, with the routes of all tasks, `/info`, `/health` and `/ready`. A Worker exports it as the default
 * export; other runtimes call its `fetch`. Like `embeddings()`, it can be mounted in your own app, and has the methods of all tasks.
 *
 * You can add routes. Under `/v1/`, `/v2/` and `/models/` they need one of the `keys`. Elsewhere they are open to everyone.
 */
export function createEdgeApp<Env extends object>(options: EdgeAppOptions<Env>): EmbeddingsApp<Env> {
  return createApp(deploymentOf({ ...options, tier: "edge" }));
}
