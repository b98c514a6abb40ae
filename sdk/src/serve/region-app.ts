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

/** Growth of a body at the edge, at most: an invalid UTF-8 byte becomes three bytes, and the edge adds fields. */
const FORWARDED_GROWTH = 4;

/** Outputs of a request, in bytes. A region has more memory than an isolate, so an edge with a higher limit can ask it. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Memory of all requests in flight, in bytes. */
const MAX_BYTES_IN_FLIGHT = 128 * 1024 * 1024;

/** Makes the app of the region, with the same routes as the edge. It starts loading the model at once. */
export function createRegionApp(options: RegionAppOptions): Hono<{ Bindings: object }> {
  const maxBodyBytes = FORWARDED_GROWTH * defaultLimits.maxBodyBytes;
  const deployment = deploymentOf({
    ...options,
    // A region is never open. With `false`, or without `keys`, in plain JavaScript, it refuses every request.
    keys: options.keys || [],
    tier: "region",
    // A region is the place for requests that are too large for the edge. The server or the function has its own limit.
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
