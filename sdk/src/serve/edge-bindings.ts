import type { JobsBucket, JobsQueue } from "./bulk/bindings.ts";
import type { PageBinding } from "./deployment.ts";
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
