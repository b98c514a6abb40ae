import type { Hono } from "hono";
import type { Engine } from "#sdk/runtime/engine/engine.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { httpStore } from "#sdk/storage/http.ts";
import { type R2Bucket, r2Store } from "#sdk/storage/r2.ts";
import type { ObjectStore } from "#sdk/storage/store.ts";

interface Env {
  MODEL: string;
  MODELS: R2Bucket;
  /** Address of the web server with the model. Default: the model is in the bucket. */
  MODELS_URL?: string;
  API_KEY: string;
}

/**
 * The edge app as deployed, with its model in R2 or on a web server, and without a region.
 *
 * @param uploaded objects that are read here instead
 */
export const edgeWorker = (engine: Engine, uploaded?: ObjectStore): Hono<{ Bindings: Env }> =>
  createEdgeApp<Env>({
    model: ({ MODEL }) => MODEL,
    models({ MODELS, MODELS_URL }) {
      const store = MODELS_URL ? httpStore(MODELS_URL) : r2Store(MODELS);
      return {
        ...store,
        open: async (...object) => (await uploaded?.open(...object)) ?? store.open(...object),
      };
    },
    engine,
    keys: ({ API_KEY }) => [API_KEY],
  });
