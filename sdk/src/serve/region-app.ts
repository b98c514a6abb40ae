import type { Hono } from "hono";
import type { ObjectStore } from "../storage/store.ts";
import { createApp } from "./app.ts";
import type { ApiKey } from "./call-defaults.ts";
import { deploymentOf, type EmbeddingsOptions, type Setting } from "./deployment.ts";
import { defaultLimits } from "./limits.ts";
import { sageMakerRoutes } from "./sagemaker-routes.ts";

export interface RegionAppOptions
  extends Pick<
    EmbeddingsOptions<object>,
    "aliases" | "memoryLimitBytes" | "engine" | "limits" | "log" | "metrics" | "warmUp"
  > {
  /** The store where models are published. */
  models: ObjectStore;
  /** The name of the model to serve, or several names, of which the first is the default. */
  model: string | readonly string[];
  /** The API keys that may call the routes, as for `createEdgeApp`; an empty list refuses every request. */
  keys: Setting<object, readonly ApiKey[] | Promise<readonly ApiKey[]>>;
  /**
   * Whether this region runs on SageMaker. It then also answers `GET /ping` and `POST /invocations`, without keys: SageMaker
   * checks who calls. Do not set it where other callers can reach the region. Default false.
   */
  sagemaker?: boolean;
}

/** Maximum factor by which a body grows at the edge: an invalid UTF-8 byte becomes three bytes, and the edge adds fields. */
const FORWARDED_GROWTH = 4;

/** Maximum bytes of a request's outputs. It is higher than the default, so that edges with a higher limit can ask the region too. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Maximum bytes of memory that all requests in flight hold together. */
const MAX_BYTES_IN_FLIGHT = 128 * 1024 * 1024;

/** Makes the app of the region, with the same routes as the edge. It starts loading the model at once. */
export function createRegionApp(options: RegionAppOptions): Hono<{ Bindings: object }> {
  const maxBodyBytes = FORWARDED_GROWTH * defaultLimits.maxBodyBytes;
  const deployment = deploymentOf({
    ...options,
    // A region always checks keys. If plain JavaScript gives `false` or no `keys`, it refuses every request.
    keys: options.keys || [],
    tier: "region",
    // No CPU limit here: the region takes the requests that are too large for the edge, and its platform has its own limit.
    cpuLimitMs: Number.POSITIVE_INFINITY,
    limits: {
      maxBodyBytes,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      maxBytesInFlight: MAX_BYTES_IN_FLIGHT,
      ...options.limits,
    },
  });
  deployment.service({}).ready(() => {});
  const app = createApp(deployment);
  return options.sagemaker === true
    ? app.route("/", sageMakerRoutes(createApp({ ...deployment, callers: false })))
    : app;
}
