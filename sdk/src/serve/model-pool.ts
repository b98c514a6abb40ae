import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import { ModelVersion } from "../artifact/manifest.ts";
import { withDeadline } from "../artifact/with-deadline.ts";
import type { ModelHolder, Reserve } from "./model-holder.ts";

export interface ModelPoolOptions {
  /** Names of the models, of which the first is the default. */
  names: readonly string[];
  /** Maximum bytes of all loaded models together. Default: no limit. */
  limitBytes?: number | undefined;
  /** Maximum time for which a load waits until other models are released, in ms. Default 25,000. */
  timeoutMs?: number;
  /**
   * Makes the holder of a model.
   *
   * @param version the only version to load. Default: the current one
   * @param reserve makes room before a load takes memory
   */
  holder(name: string, version: string | undefined, reserve: Reserve): ModelHolder;
}

/**
 * Versions that requests have pinned and that are remembered without being loaded. A caller can pin any number of versions, most
 * of which do not exist.
 */
const MAX_UNLOADED = 32;

/**
 * Pinned versions that stay loaded, apart from those that are current. A caller can pin every version that was ever published. More
 * than one, so that callers can compare two.
 */
const MAX_PINNED = 2;

/** The models of a deployment. */
export interface ModelPool {
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
  /** Returns the bytes of all loaded models, and of those that are being loaded. */
  bytes(): number;
}

/**
 * Makes a pool of models. If they need more memory than `limitBytes`, the models that have not been used for the longest time
 * are unloaded, each after its last request.
 */
export function modelPool({
  names,
  limitBytes = Number.POSITIVE_INFINITY,
  timeoutMs = 25_000,
  holder: make,
}: ModelPoolOptions): ModelPool {
  /** Holders by `name` or `name@version`, the least recently used first. */
  const holders = new Map<string, ModelHolder>();
  /** Bytes of models that are being loaded. */
  const reserved = new Map<string, number>();
  /** The last reservation. They are made one after the other, because two that wait for each other would never end. */
  let last: Promise<void> = Promise.resolve();
  const bytes = () => [...holders].reduce((sum, [key, holder]) => sum + holder.bytes() + (reserved.get(key) ?? 0), 0);

  const isLoaded = (key: string) => (holders.get(key)?.bytes() ?? 0) > 0 || reserved.has(key);

  function reserve(model: string, needed: number): Promise<void> {
    reserved.delete(model);
    if (needed === 0) return Promise.resolve();
    const previous = last;
    last = (async () => {
      // A Worker can stop the request of a reservation, which then never ends.
      await withDeadline(previous, timeoutMs, () => full(model, needed, limitBytes)).catch(() => {});
      await makeRoom(model, needed);
    })();
    last.catch(() => {});
    return last;
  }

  async function makeRoom(model: string, needed: number): Promise<void> {
    if (needed > limitBytes) throw tooLarge(model, needed, limitBytes);
    if (model.includes("@")) {
      const others = [...holders].filter(([key]) => key.includes("@") && key !== model && isLoaded(key));
      for (const [, holder] of others.slice(0, 1 - MAX_PINNED)) {
        await withDeadline(holder.unload(), timeoutMs, () => full(model, needed, limitBytes));
      }
    }
    for (const [key, holder] of [...holders]) {
      if (bytes() + needed <= limitBytes) break;
      if (key === model) continue;
      await withDeadline(holder.unload(), timeoutMs, () => full(model, needed, limitBytes));
    }
    reserved.set(model, needed);
  }

  /** Unloads a version that was pinned before it was loaded as the current one. */
  function unload(pinned: string): void {
    const unloaded = holders.get(pinned)?.unload();
    unloaded?.catch((error: unknown) => console.error(`bert-edge: releasing ${pinned} failed:`, error));
  }

  /** Forgets the pinned versions that have not been asked for the longest time, and are not loaded. */
  function forgetUnloaded(): void {
    if (holders.size <= MAX_UNLOADED) return;
    const unloaded = [...holders].filter(([key]) => !names.includes(key) && !isLoaded(key));
    for (const [key] of unloaded.slice(0, -MAX_UNLOADED)) holders.delete(key);
  }

  return {
    names,
    holderOf(model = names[0] as string) {
      const [name = "", version, ...rest] = model.split("@");
      if (!names.includes(name) || rest.length > 0) throw unknown(model, names);
      // A caller's text becomes part of an object's key: `../../x` would leave the models' folder.
      if (version !== undefined && !v.is(ModelVersion, version)) throw unknown(model, names);
      const isCurrent = version !== undefined && holders.get(name)?.version() === version;
      if (isCurrent) unload(model);
      const key = isCurrent ? name : model;
      const holder = holders.get(key) ?? make(name, version, (needed) => reserve(key, needed));
      // The last key of a map is the one that was set last.
      holders.delete(key);
      holders.set(key, holder);
      forgetUnloaded();
      return holder;
    },
    bytes,
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
    hint: "Raise `memoryLimitBytes`, or prepare the model with --table int4.",
  });

const full = (name: string, needed: number, limit: number): BertEdgeError =>
  new BertEdgeError(
    "memory_full",
    `The model ${name} needs ${needed} bytes, but other models are in use and the limit is ${limit} bytes.`,
    { hint: "Try again when fewer models are in use, or raise `memoryLimitBytes`." },
  );
