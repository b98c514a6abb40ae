import type { Artifact } from "../artifact/artifact.ts";
import type { Target, TargetName } from "../artifact/manifest.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { startModel } from "../runtime/model.ts";
import { type ModelCache, modelCache } from "../runtime/model-cache.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";

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

/** Returns the peak memory that `prepare` measured. Without a measurement, returns the size of the model file. */
function expectedBytes({ manifest, measurements }: Artifact, engine: Engine["name"]): number {
  const targets = Object.entries(manifest.targets) as [TargetName, Target][];
  const bytes = targets.map(([name, target]) => {
    if (target.engine !== engine) return 0;
    return measurements[name]?.memory?.peak ?? manifest.files[target.model]?.size ?? 0;
  });
  return Math.max(0, ...bytes);
}
