import type { Hono } from "hono";
import type { Engine } from "../runtime/engine/engine.ts";
import type { ObjectStore } from "../storage/store.ts";
import { createApp } from "./app.ts";
import { defaultLimits, type Limits } from "./local-tier.ts";
import { modelHolder } from "./model-holder.ts";
import { regionService } from "./region-service.ts";

export interface RegionAppOptions {
  /** Where models are published. */
  models: ObjectStore;
  /** The name of the model to serve. */
  model: string;
  engine: Engine;
  /** The API keys that are let in; none lets nobody in. */
  keys: readonly string[];
  limits?: Partial<Limits>;
}

/** What the edge forwards is at most so much larger than what it got: a byte that is not UTF-8 becomes three. */
const FORWARDED_GROWTH = 4;

/** The regional handler: the edge's contract, answered by this machine. It starts loading the model at once. */
export function createRegionApp({ models, model, engine, keys, ...options }: RegionAppOptions): Hono {
  const limits = { ...defaultLimits, maxBodyBytes: FORWARDED_GROWTH * defaultLimits.maxBodyBytes, ...options.limits };
  const holder = modelHolder({ store: models, name: model, engine });
  holder.current(() => {});
  return createApp({ service: regionService({ holder, limits }), keys, limits });
}
