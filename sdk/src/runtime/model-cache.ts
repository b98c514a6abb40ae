import { BertEdgeError } from "../artifact/error.ts";
import { type Model, releaseModel } from "./model.ts";
import { releasedAfterUse } from "./released-after-use.ts";

export interface ModelCacheOptions {
  /** Bytes that all models may have together, by what their sessions say. Use an engine whose sessions share no memory. */
  limitBytes: number;
  /**
   * Loads a model.
   *
   * @param reserve makes room before the model takes any: to be called as soon as its bytes are known. Without it, or beyond
   *   what it was told, room is made when the model is there, and the limit is exceeded until then
   */
  load(name: string, reserve: (bytes: number) => Promise<void>): Promise<Model>;
}

/** Several models side by side. */
export interface ModelCache {
  /**
   * Runs `work` on a model, which is loaded if it is not there, and not unloaded meanwhile.
   *
   * @throws BertEdgeError `memory_full` when there is no room for it beside those in use, and what `load` and `work` throw
   */
  using<T>(name: string, work: (model: Model) => Promise<T>): Promise<T>;
  /** Unloads a model after its last user. Whoever asks for it from now on has it loaded again. */
  unload(name: string): Promise<void>;
  /** Of all models that are loaded, and of what is reserved for those that are being loaded. */
  memoryBytes(): number;
}

interface Entry {
  readonly name: string;
  readonly loading: Promise<Model>;
  model: Model | undefined;
  reserved: number;
}

/** Keeps models loaded up to a limit of memory, and unloads those first that were asked for least recently. */
export function modelCache({ limitBytes, load }: ModelCacheOptions): ModelCache {
  /** In the order in which they were last asked for. */
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

  /** Those asked for least recently that nobody uses: as many as have so many bytes, or all. */
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

  /** Takes room for an entry at once, and resolves when what was there is gone. */
  function reserve(entry: Entry, bytes: number): Promise<void> {
    const excess = memoryBytes() - bytesOf(entry) + bytes - limitBytes;
    const unneeded = idle(excess);
    if (unneeded.reduce((sum, each) => sum + bytesOf(each), 0) < excess) throw full(entry, bytes);
    entry.reserved = bytes;
    return unloadAll(unneeded);
  }

  const full = ({ name }: Entry, bytes: number): BertEdgeError =>
    bytes > limitBytes
      ? new BertEdgeError("memory_full", `The model ${name} needs ${bytes} bytes, and the limit is ${limitBytes}.`, {
          hint: "Raise the limit, or prepare the model with --table int4.",
        })
      : new BertEdgeError(
          "memory_full",
          `The model ${name} needs ${bytes} bytes, of ${limitBytes}, and models in use leave too few.`,
          { hint: "Try again when they have answered, or raise the limit." },
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
        // Long texts let a model grow.
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
