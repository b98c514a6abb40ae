import type { ModelHolder, Reserve } from "../../runtime/models/model-holder.ts";
import { type ModelMemoryOptions, modelMemory } from "../../runtime/models/model-memory.ts";
import type { ServedNames } from "../service.ts";

export interface ModelPoolOptions extends Omit<ModelMemoryOptions, "isUsed"> {
  served: ServedNames;
  /** Makes the holder of a model. It loads only `version`, or the current version if `version` is undefined. */
  holder(name: string, version: string | undefined, reserve: Reserve): ModelHolder;
}

/** Makes the pool of a deployment's models, of which a request names one. */
export function modelPool({ served, holder: make, ...options }: ModelPoolOptions) {
  const memory = modelMemory(options);
  return {
    served,
    /**
     * Returns the holder of a model, or of `name@version`. The current version has one holder, whether a request pins it or not.
     * The caller must call the holder's `current` at once, because another version can become the current one.
     *
     * @throws BertEdgeError `model_unknown`
     */
    holderOf(model?: string): ModelHolder {
      const { name, version } = served.find(model);
      const key = version === undefined ? name : `${name}@${version}`;
      const isCurrent = version !== undefined && memory.known(name)?.version() === version;
      // A request may have pinned this version before it became the current one. Then it still has a second holder, which is unloaded.
      const pinned = isCurrent ? memory.known(key)?.unload() : undefined;
      pinned?.catch((error: unknown) => console.error(`bert-edge: releasing ${key} failed:`, error));
      return memory.holderOf(isCurrent ? name : key, (reserve) => make(name, version, reserve));
    },
    bytes: memory.bytes,
  };
}

export type ModelPool = ReturnType<typeof modelPool>;
