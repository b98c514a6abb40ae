import type { Hono } from "hono";
import type { Engine } from "#sdk/runtime/engine/engine.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { type R2Bucket, r2Store } from "#sdk/storage/r2.ts";

interface Env {
  MODEL: string;
  MODELS: R2Bucket;
  API_KEY: string;
}

/** The edge app as deployed, with its model in R2 and without a region. */
export const edgeWorker = (engine: Engine): Hono<{ Bindings: Env }> =>
  createEdgeApp<Env>({
    model: ({ MODEL }) => MODEL,
    models: ({ MODELS }) => r2Store(MODELS),
    engine,
    keys: ({ API_KEY }) => [API_KEY],
  });
