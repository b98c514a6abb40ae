import type { ModelHolder, Reserve } from "../../runtime/models/model-holder.ts";
import { type ModelMemoryOptions, modelMemory } from "../../runtime/models/model-memory.ts";
import type { ServedNames } from "../service.ts";

export interface ModelPoolOptions extends Omit<ModelMemoryOptions, "isUsed"> {
  served: ServedNames;
  /** Makes the holder of a model. `version` is the only one to load; undefined for the current one. */
  holder(name: string, version: string | undefined, reserve: Reserve): ModelHolder;
}

/** Makes the pool of a deployment's models, of which a request names one. */
export function modelPool({ served, holder: make, ...options }: ModelPoolOptions) {
  const memory = modelMemory(options);
  return {
    served,
    /**
     * Returns the holder of a model, or of `name@version`. The current version has one holder, whether a request pins it or not.
     * The caller has to use `current` at once: the current version changes.
     *
     * @throws BertEdgeError `model_unknown`
     */
    holderOf(model?: string): ModelHolder {
      const { name, version } = served.find(model);
      const key = version === undefined ? name : `${name}@${version}`;
      const isCurrent = version !== undefined && memory.known(name)?.version() === version;
      // It may have been pinned before it was loaded as the current version.
      const pinned = isCurrent ? memory.known(key)?.unload() : undefined;
      pinned?.catch((error: unknown) => console.error(`bert-edge: releasing ${key} failed:`, error));
      return memory.holderOf(isCurrent ? name : key, (reserve) => make(name, version, reserve));
    },
    bytes: memory.bytes,
  };
}

export type ModelPool = ReturnType<typeof modelPool>;
