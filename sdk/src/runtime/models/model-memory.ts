import { BertEdgeError } from "../../artifact/error.ts";
import { withDeadline } from "../../artifact/with-deadline.ts";
import type { ModelHolder, Reserve } from "./model-holder.ts";

export interface ModelMemoryOptions {
  /** Maximum bytes of all loaded models together. Default: no limit. */
  limitBytes?: number | undefined;
  /** Maximum time for which a load waits until other models are released, in ms. Default 25,000. */
  timeoutMs?: number;
  /** Whether a model is in use and must stay loaded. Default: loads can unload every model, and wait for the end of its last request. */
  isUsed?(model: string): boolean;
}

/** Maximum number of unloaded models that are remembered. It is limited, because callers can pin any versions, even missing ones. */
const MAX_UNLOADED = 32;

/** Maximum number of pinned versions that stay loaded beside the current ones: enough for a caller that compares two versions. */
const MAX_PINNED = 2;

/**
 * Makes room for models, whose keys are `name` or `name@version`. If they need more memory than `limitBytes`, the models that
 * have not been used for the longest time are unloaded, each after its last request.
 */
export function modelMemory({ limitBytes = Number.POSITIVE_INFINITY, timeoutMs = 25_000, isUsed }: ModelMemoryOptions) {
  /** Holders by key, the least recently used first. */
  const holders = new Map<string, ModelHolder>();
  /** Bytes of models that are being loaded. */
  const reserved = new Map<string, number>();
  /** The last reservation. Reservations run one after the other, because two at the same time could wait for each other forever. */
  let last: Promise<void> = Promise.resolve();
  const bytesOf = (key: string) => (holders.get(key)?.bytes() ?? 0) + (reserved.get(key) ?? 0);
  const sumOf = (keys: Iterable<string>) => [...keys].reduce((sum, key) => sum + bytesOf(key), 0);
  const bytes = () => sumOf(holders.keys());

  function reserve(key: string, needed: number): Promise<void> {
    reserved.delete(key);
    if (needed === 0) return Promise.resolve();
    last = makeRoom(key, needed, last);
    last.catch(() => {});
    return last;
  }

  async function makeRoom(key: string, needed: number, previous: Promise<void>): Promise<void> {
    const limit = "`memoryLimitBytes` (`limitBytes` of `publishedModels`)";
    const needs = `The model ${key} needs ${needed} bytes`;
    const late = () =>
      new BertEdgeError("memory_full", `${needs}, but other models are in use and the limit is ${limitBytes} bytes.`, {
        hint: `Try again when fewer models are in use, or raise ${limit}.`,
      });
    const inTime = (work: Promise<unknown>) => withDeadline(work, timeoutMs, late);
    // Waits with a time limit, because the previous reservation never ends if a Worker stops the request that made it.
    await inTime(previous).catch(() => {});
    if (needed > limitBytes) {
      throw new BertEdgeError("memory_full", `${needs}, but the memory limit is ${limitBytes} bytes.`, {
        hint: `Raise ${limit}, or prepare the model with --table int4 or --max-memory.`,
      });
    }
    if (key.includes("@")) {
      const pinned = [...holders.keys()].filter((each) => each.includes("@") && each !== key && bytesOf(each) > 0);
      await inTime(unload(pinned.slice(0, 1 - MAX_PINNED)));
    }
    const others = inTheWay(needed, key);
    if (isUsed && bytes() - sumOf(others) + needed > limitBytes) throw late();
    await inTime(unload(others));
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

  /** Forgets the least recently used models that are not loaded. Without `isUsed`, as in a deployment, forgets only pinned versions. */
  function forgetUnloaded(): void {
    if (holders.size <= MAX_UNLOADED) return;
    const canGo = isUsed ? (key: string) => !isUsed(key) : (key: string) => key.includes("@");
    const unloaded = [...holders.keys()].filter((key) => canGo(key) && bytesOf(key) === 0);
    for (const key of unloaded.slice(0, -MAX_UNLOADED)) holders.delete(key);
  }

  return {
    /** Returns the holder of a model, and makes it if necessary. Marks the model as the most recently used one. */
    holderOf(key: string, make: (reserve: Reserve) => ModelHolder): ModelHolder {
      const holder = holders.get(key) ?? make((needed) => reserve(key, needed));
      // Moves the key to the end of the map, where the most recently used one is.
      holders.delete(key);
      holders.set(key, holder);
      forgetUnloaded();
      return holder;
    },
    /** Returns the holder of a model; undefined if there is none. */
    known: (key: string) => holders.get(key),
    /** Unloads unused models until all models fit into the limit again, because loaded models can grow. */
    shrink: () => unload(inTheWay(0)),
    /** Returns the bytes of all loaded models, and of those that are being loaded. */
    bytes,
  };
}
