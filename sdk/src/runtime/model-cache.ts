import { BertEdgeError } from "../artifact/error.ts";
import { type Model, releaseModel } from "./model.ts";
import { releasedAfterUse } from "./released-after-use.ts";

export interface ModelCacheOptions {
  /**
   * Maximum of the sum of `Model.memoryBytes` over all models. The models must not share memory, because the sum would
   * count shared memory more than once.
   */
  limitBytes: number;
  /**
   * Loads a model.
   *
   * @param reserve reserves memory for the model, and unloads other models if necessary. Call it as soon as the size is
   *   known, before the model takes memory. Without this call, or if the model is larger than reserved, the models can
   *   exceed the limit during the load.
   */
  load(name: string, reserve: (bytes: number) => Promise<void>): Promise<Model>;
}

/** Keeps several models in memory at the same time. */
export interface ModelCache {
  /**
   * Runs `work` on a model. Loads the model first if necessary, and does not unload it before `work` ends.
   *
   * @throws BertEdgeError `memory_full` when the models in use leave too little memory, and the errors of `load` and
   *   `work`
   */
  using<T>(name: string, work: (model: Model) => Promise<T>): Promise<T>;
  /** Unloads a model as soon as no `work` uses it. A later call of `using` loads it again. */
  unload(name: string): Promise<void>;
  /** Returns the bytes of all loaded models, plus the bytes reserved for models that are being loaded. */
  memoryBytes(): number;
}

interface Entry {
  readonly name: string;
  readonly loading: Promise<Model>;
  model: Model | undefined;
  reserved: number;
}

/** Makes a cache that keeps models loaded up to a memory limit, and unloads the least recently used ones first. */
export function modelCache({ limitBytes, load }: ModelCacheOptions): ModelCache {
  /** Entries by model name, the least recently used first. */
  const entries = new Map<string, Entry>();
  const uses = releasedAfterUse(release);

  async function release(entry: Entry): Promise<void> {
    const { model } = entry;
    entry.model = undefined;
    entry.reserved = 0;
    if (model) await releaseModel(model);
  }

  const bytesOf = ({ model, reserved }: Entry) => model?.memoryBytes() ?? reserved;
  const memoryBytes = () => [...entries.values(), ...uses.retiring()].reduce((sum, entry) => sum + bytesOf(entry), 0);

  /**
   * Lists idle models to unload. The list begins with the least recently used model, and ends when its models
   * have at least `bytes` bytes. If all idle models together have fewer bytes, lists all of them.
   */
  function idle(bytes: number): Entry[] {
    const found: Entry[] = [];
    let missing = bytes;
    for (const entry of entries.values()) {
      if (missing <= 0) break;
      if (uses.isUsed(entry)) continue;
      found.push(entry);
      missing -= bytesOf(entry);
    }
    return found;
  }

  async function unloadAll(some: readonly Entry[]): Promise<void> {
    for (const { name } of some) entries.delete(name);
    await Promise.all(some.map(uses.retire));
  }

  /** Reserves memory for an entry immediately. Resolves when the models that must make room are unloaded. */
  function reserve(entry: Entry, bytes: number): Promise<void> {
    const excess = memoryBytes() - bytesOf(entry) + bytes - limitBytes;
    const evicted = idle(excess);
    if (evicted.reduce((sum, each) => sum + bytesOf(each), 0) < excess) throw full(entry, bytes);
    entry.reserved = bytes;
    return unloadAll(evicted);
  }

  const full = ({ name }: Entry, bytes: number): BertEdgeError =>
    bytes > limitBytes
      ? new BertEdgeError(
          "memory_full",
          `The model ${name} needs ${bytes} bytes, but the memory limit is ${limitBytes} bytes.`,
          {
            hint: "Raise `limitBytes`, or prepare the model with --table int4.",
          },
        )
      : new BertEdgeError(
          "memory_full",
          `The model ${name} needs ${bytes} bytes, but other models are in use and the limit is ${limitBytes} bytes.`,
          { hint: "Try again when fewer models are in use, or raise `limitBytes`." },
        );

  function open(name: string): Entry {
    const { promise, resolve, reject } = Promise.withResolvers<Model>();
    const entry: Entry = { name, loading: promise, model: undefined, reserved: 0 };
    entries.set(name, entry);
    fill(entry).then(resolve, reject);
    return entry;
  }

  async function fill(entry: Entry): Promise<Model> {
    try {
      const model = await load(entry.name, async (bytes) => reserve(entry, bytes));
      entry.model = model;
      await model.complete;
      await reserve(entry, bytesOf(entry));
      return model;
    } catch (error) {
      if (entries.get(entry.name) === entry) entries.delete(entry.name);
      await release(entry);
      throw error;
    }
  }

  return {
    async using(name, work) {
      const entry = entries.get(name) ?? open(name);
      if (entries.delete(name)) entries.set(name, entry);
      try {
        return await uses.using(entry, async ({ loading }) => work(await loading));
      } finally {
        // The model may have grown, because longer texts need more memory. Then other models may have to be unloaded.
        await unloadAll(idle(memoryBytes() - limitBytes));
      }
    },
    async unload(name) {
      const entry = entries.get(name);
      if (entry) await unloadAll([entry]);
    },
    memoryBytes,
  };
}
