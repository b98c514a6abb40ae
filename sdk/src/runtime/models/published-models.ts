import type { ObjectStore } from "../../storage/store.ts";
import type { Engine } from "../engine/engine.ts";
import { type LocalModel, withMethods } from "../local-model.ts";
import { releasedAfterUse } from "../released-after-use.ts";
import { modelHolder } from "./model-holder.ts";
import { modelMemory } from "./model-memory.ts";

export interface PublishedModelsOptions {
  store: ObjectStore;
  engine: Engine;
  /** Maximum bytes of all loaded models together. Memory that models share, as in `ort-web`, counts once per model. */
  limitBytes: number;
}

/** Maximum delay of a timer, in ms: 25 days. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Makes a cache of the models in a store. It loads the current version of a model on first use of its name. */
export function publishedModels({ store, engine, limitBytes }: PublishedModelsOptions) {
  /** Counts the calls of `using` for each name, including calls that still wait for the model. */
  const calls = releasedAfterUse<string>(async () => {});
  const memory = modelMemory({ limitBytes, isUsed: calls.isUsed });
  // Without a timeout and without reports, because callers wait as long as a load takes, and get its errors.
  const settings = { store, engine, loadTimeoutMs: NO_TIMEOUT_MS, report: () => {} };

  return {
    /**
     * Runs `work` on a model. Loads the model first if necessary, and does not unload it before `work` ends.
     *
     * @throws BertEdgeError `memory_full` when the models in use leave too little memory; errors of the load and of `work`
     */
    async using<T>(name: string, work: (model: LocalModel) => Promise<T>): Promise<T> {
      try {
        return await calls.using(name, async () => {
          const holder = memory.holderOf(name, (reserve) => modelHolder({ ...settings, name, reserve }));
          for (;;) {
            const model = await holder.load(() => {});
            await model.complete;
            if (holder.holds(model)) return holder.using(model, () => work(withMethods(model)));
          }
        });
      } finally {
        // The model may have grown, because longer texts need more memory.
        await memory.shrink();
      }
    },
    /** Unloads a model as soon as no `work` uses it. A later call of `using` loads it again. */
    async unload(name: string): Promise<void> {
      const unloaded = memory.known(name)?.unload();
      if (!calls.isUsed(name)) await unloaded;
    },
    /** Returns the bytes of all loaded models, plus the bytes reserved for models that are being loaded. */
    memoryBytes: memory.bytes,
  };
}

/** Keeps several models in memory at the same time. */
export type ModelCache = ReturnType<typeof publishedModels>;
