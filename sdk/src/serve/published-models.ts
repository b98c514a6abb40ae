import type { Engine } from "../runtime/engine/engine.ts";
import { startModel } from "../runtime/model.ts";
import { type ModelCache, modelCache } from "../runtime/model-cache.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";
import { expectedBytes } from "./expected-bytes.ts";

export interface PublishedModelsOptions {
  store: ObjectStore;
  engine: Engine;
  /** Maximum bytes of all loaded models together. */
  limitBytes: number;
}

/** Makes a cache of the models in a store. On first use of a model's name, the cache loads its current version. */
export const publishedModels = ({ store, engine, limitBytes }: PublishedModelsOptions): ModelCache =>
  modelCache({
    limitBytes,
    async load(name, reserve) {
      const artifact = await openPublished(store, await readPointer(store, name));
      await reserve(expectedBytes(artifact, engine.name));
      return startModel(artifact, engine);
    },
  });
