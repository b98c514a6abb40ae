import type { Hono } from "hono";
import type { Engine } from "../runtime/engine/engine.ts";
import type { ObjectStore } from "../storage/store.ts";
import { createApp } from "./app.ts";
import { edgeService } from "./edge-service.ts";
import { defaultLimits, type Limits } from "./local-tier.ts";
import { modelHolder } from "./model-holder.ts";
import type { RegionTier } from "./region-tier.ts";
import type { EmbedService } from "./service.ts";

export interface EdgeAppOptions<Env> {
  /** Where models are published. */
  models: (env: Env) => ObjectStore;
  /** The name of the model to serve. */
  model: (env: Env) => string;
  engine: Engine;
  /** The API keys that are let in; none lets nobody in. */
  keys: (env: Env) => readonly string[];
  /** Where to turn when the edge cannot answer in time; undefined for an edge on its own. */
  region?: (env: Env) => RegionTier | undefined;
  limits?: Partial<Limits>;
  /** CPU time the platform allows a request. Default 30 000 ms, Cloudflare's default on paid plans. */
  cpuLimitMs?: number;
}

/** What a Worker exports, and what every web-standard runtime can call. */
export interface EdgeApp<Env> {
  fetch(request: Request, env: Env, context?: { waitUntil(work: Promise<unknown>): void }): Promise<Response>;
}

/** The edge handler. It answers what the region's does, and turns to it when a latency budget asks for that. */
export function createEdgeApp<Env extends object>(options: EdgeAppOptions<Env>): EdgeApp<Env> {
  const limits = { ...defaultLimits, ...options.limits };
  function service(env: Env): EmbedService {
    try {
      return edgeService({
        holder: modelHolder({ store: options.models(env), name: options.model(env), engine: options.engine }),
        region: options.region?.(env),
        limits,
        cpuLimitMs: options.cpuLimitMs ?? 30_000,
      });
    } catch (error) {
      return refusing(error);
    }
  }
  // Bindings are known only with the first request; they are the same for all requests of an isolate.
  let app: Hono | undefined;
  return {
    async fetch(request, env, context) {
      app ??= createApp({ service: service(env), keys: options.keys(env), limits });
      return app.fetch(request, env, context as never);
    },
  };
}

/** What is wrong with the settings is seen only by requests, so it is they who are told. */
const refusing = (error: unknown): EmbedService => ({
  embed: () => Promise.reject(error),
  ready() {
    throw error;
  },
});
