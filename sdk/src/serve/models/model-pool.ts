import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { ModelVersion } from "../../artifact/manifest.ts";
import { withDeadline } from "../../artifact/with-deadline.ts";
import type { ModelHolder, Reserve } from "./model-holder.ts";

interface ModelMemoryOptions {
  /** Maximum bytes of all loaded models together. Default: no limit. */
  limitBytes?: number | undefined;
  /** Maximum time for which a load waits until other models are released, in ms. Default 25,000. */
  timeoutMs?: number;
  /**
   * Whether a model is in use. A load leaves such models loaded, and is refused if there is too little memory beside them. Default:
   * a load waits until the last request of another model has ended.
   */
  isUsed?(model: string): boolean;
}

export interface ModelPoolOptions extends Omit<ModelMemoryOptions, "isUsed"> {
  /** Names of the models, of which the first is the default. */
  names: readonly string[];
  /**
   * Makes the holder of a model.
   *
   * @param version the only version to load. Default: the current one
   * @param reserve makes room before a load takes memory
   */
  holder(name: string, version: string | undefined, reserve: Reserve): ModelHolder;
}

/**
 * Models that are remembered without being loaded. A caller can pin any number of versions, most of which do not exist.
 */
const MAX_UNLOADED = 32;

/**
 * Pinned versions that stay loaded, apart from those that are current. A caller can pin every version that was ever published. More
 * than one, so that callers can compare two.
 */
const MAX_PINNED = 2;

/** Models that share a limit of memory. Their keys are `name` or `name@version`. */
interface ModelMemory {
  /** Returns the holder of a model, and makes it if necessary. The model then counts as the one that was used last. */
  holderOf(key: string, make: (reserve: Reserve) => ModelHolder): ModelHolder;
  /** Returns the holder of a model; undefined if there is none. */
  known(key: string): ModelHolder | undefined;
  /** Unloads models that are not in use, as long as models have grown above the limit. */
  shrink(): Promise<void>;
  /** Returns the bytes of all loaded models, and of those that are being loaded. */
  bytes(): number;
}

/** The models of a deployment. */
export interface ModelPool extends Pick<ModelMemory, "bytes"> {
  /** Names of the models, the default one first. */
  readonly names: readonly string[];
  /**
   * Returns the holder of a model. The current version has one holder, whether a request pins it or not. The caller has to use
   * `current` at once: the current version changes.
   *
   * @param model name of a model, or `name@version`. Default: the default model
   * @throws BertEdgeError `model_unknown`
   */
  holderOf(model?: string): ModelHolder;
}

/**
 * Makes room for models. If they need more memory than `limitBytes`, the models that have not been used for the longest time are
 * unloaded, each after its last request.
 */
export function modelMemory({
  limitBytes = Number.POSITIVE_INFINITY,
  timeoutMs = 25_000,
  isUsed,
}: ModelMemoryOptions): ModelMemory {
  /** Holders by key, the least recently used first. */
  const holders = new Map<string, ModelHolder>();
  /** Bytes of models that are being loaded. */
  const reserved = new Map<string, number>();
  /** The last reservation. They are made one after the other, because two that wait for each other would never end. */
  let last: Promise<void> = Promise.resolve();
  const bytesOf = (key: string) => (holders.get(key)?.bytes() ?? 0) + (reserved.get(key) ?? 0);
  const sumOf = (keys: Iterable<string>) => [...keys].reduce((sum, key) => sum + bytesOf(key), 0);
  const bytes = () => sumOf(holders.keys());

  function reserve(key: string, needed: number): Promise<void> {
    reserved.delete(key);
    if (needed === 0) return Promise.resolve();
    const previous = last;
    last = (async () => {
      // A Worker can stop the request of a reservation, which then never ends.
      await withDeadline(previous, timeoutMs, () => full(key, needed, limitBytes)).catch(() => {});
      await makeRoom(key, needed);
    })();
    last.catch(() => {});
    return last;
  }

  async function makeRoom(key: string, needed: number): Promise<void> {
    if (needed > limitBytes) throw tooLarge(key, needed, limitBytes);
    const late = () => full(key, needed, limitBytes);
    if (key.includes("@")) {
      const pinned = [...holders.keys()].filter((each) => each.includes("@") && each !== key && bytesOf(each) > 0);
      await withDeadline(unload(pinned.slice(0, 1 - MAX_PINNED)), timeoutMs, late);
    }
    const others = inTheWay(needed, key);
    if (isUsed && bytes() - sumOf(others) + needed > limitBytes) throw late();
    await withDeadline(unload(others), timeoutMs, late);
    reserved.set(key, needed);
  }

  /** Lists the models to unload so that `needed` bytes fit. If there are too few, lists all that can be unloaded. */
  function inTheWay(needed: number, except?: string): string[] {
    let excess = bytes() + needed - limitBytes;
    return [...holders.keys()].filter((key) => {
      if (excess <= 0 || key === except || isUsed?.(key) || bytesOf(key) === 0) return false;
      excess -= bytesOf(key);
      return true;
    });
  }

  const unload = (keys: readonly string[]) => Promise.all(keys.map((key) => holders.get(key)?.unload()));

  /** Forgets the models that have not been asked for the longest time, and are not loaded. Names of a deployment stay. */
  function forgetUnloaded(): void {
    if (holders.size <= MAX_UNLOADED) return;
    const canGo = isUsed ? (key: string) => !isUsed(key) : (key: string) => key.includes("@");
    const unloaded = [...holders.keys()].filter((key) => canGo(key) && bytesOf(key) === 0);
    for (const key of unloaded.slice(0, -MAX_UNLOADED)) holders.delete(key);
  }

  return {
    holderOf(key, make) {
      const holder = holders.get(key) ?? make((needed) => reserve(key, needed));
      // The last key of a map is the one that was set last.
      holders.delete(key);
      holders.set(key, holder);
      forgetUnloaded();
      return holder;
    },
    known: (key) => holders.get(key),
    async shrink() {
      await unload(inTheWay(0));
    },
    bytes,
  };
}

/** Makes a pool of models, which a request names. */
export function modelPool({ names, holder: make, ...options }: ModelPoolOptions): ModelPool {
  const memory = modelMemory(options);

  /** Unloads a version that was pinned before it was loaded as the current one. */
  function unload(pinned: string): void {
    const unloaded = memory.known(pinned)?.unload();
    unloaded?.catch((error: unknown) => console.error(`bert-edge: releasing ${pinned} failed:`, error));
  }

  return {
    names,
    holderOf(model = names[0] as string) {
      const [name = "", version, ...rest] = model.split("@");
      if (!names.includes(name) || rest.length > 0) throw unknown(model, names);
      // A caller's text becomes part of an object's key: `../../x` would leave the models' folder.
      if (version !== undefined && !v.is(ModelVersion, version)) throw unknown(model, names);
      const isCurrent = version !== undefined && memory.known(name)?.version() === version;
      if (isCurrent) unload(model);
      return memory.holderOf(isCurrent ? name : model, (reserve) => make(name, version, reserve));
    },
    bytes: memory.bytes,
  };
}

const unknown = (model: string, [first, ...others]: readonly string[]): BertEdgeError =>
  new BertEdgeError(
    "model_unknown",
    `This deployment does not serve the model ${JSON.stringify(model.slice(0, 80))}.`,
    {
      hint:
        others.length === 0
          ? `Set \`model\` to ${JSON.stringify(first)}, or leave it out.`
          : `Set \`model\` to one of ${[first, ...others].join(", ")}, or leave it out for ${first}.`,
    },
  );

const tooLarge = (name: string, needed: number, limit: number): BertEdgeError =>
  new BertEdgeError("memory_full", `The model ${name} needs ${needed} bytes, but the memory limit is ${limit} bytes.`, {
    hint: "Raise `memoryLimitBytes` (`limitBytes` of `publishedModels`), or prepare the model with --table int4.",
  });

const full = (name: string, needed: number, limit: number): BertEdgeError =>
  new BertEdgeError(
    "memory_full",
    `The model ${name} needs ${needed} bytes, but other models are in use and the limit is ${limit} bytes.`,
    {
      hint: "Try again when fewer models are in use, or raise `memoryLimitBytes` (`limitBytes` of `publishedModels`).",
    },
  );
