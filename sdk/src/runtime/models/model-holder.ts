import type { Artifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import type { Manifest, Target, TargetName } from "../../artifact/manifest.ts";
import { withDeadline } from "../../artifact/with-deadline.ts";
import { openPublished, readPointer } from "../../storage/published-artifact.ts";
import type { ObjectStore } from "../../storage/store.ts";
import type { Background } from "../background.ts";
import type { Engine } from "../engine/engine.ts";
import type { Model } from "../model.ts";
import { releasedAfterUse } from "../released-after-use.ts";
import { releaseModel, startModel } from "../start-model.ts";

export interface ModelHolderOptions {
  store: ObjectStore;
  /** The name of the published model. */
  name: string;
  /** The only version to load. Default: the current version, which newer versions replace. */
  version?: string | undefined;
  engine: Engine;
  /** Makes room for a model before it is loaded. Default: does nothing. */
  reserve?: Reserve;
  /** Shapes of texts that a new model computes before its first answer. Default: none. */
  warmUp?: readonly WarmUpShape[] | undefined;
  /** Interval between checks for a newer version, in ms. Default 60,000. */
  refreshMs?: number;
  /** Maximum time of a load, in ms. A slower load fails. Default 25,000, because Workers stop background work after 30 s. */
  loadTimeoutMs?: number;
  /** Reports a failed load, because possibly no caller waits for the load and gets its error. Default: `console.error`. */
  report?: (error: unknown) => void;
  now?: () => number;
}

/**
 * Reserves memory for a model that needs `bytes` bytes. `bytes` is 0 to end the reservation: the model is loaded, or will not be.
 *
 * @throws BertEdgeError `memory_full`
 */
export type Reserve = (bytes: number) => Promise<void>;

/**
 * Minimum time in ms from the start of a load until `current` starts another load, while no model is loaded. `load` has no such minimum.
 * Also the minimum time that callers are told to wait after a failed load.
 */
const RETRY_MS = 1_000;

/** Maximum time in ms that callers are told to wait after a failed load. The time grows with the time for which loads have failed. */
const LONGEST_RETRY_MS = 60_000;

/** Maximum time in ms between two failures of a series. Longer than LONGEST_RETRY_MS, because callers come back a little late. */
const LONGEST_GAP_MS = 2 * LONGEST_RETRY_MS;

/** Time in ms for which the store is not asked again for a version that it does not have. */
const MISSING_MS = 5_000;

/** Properties of a model that are known before it is loaded. */
export interface Opened {
  readonly version: string;
  readonly manifest: Manifest;
}

/** A load in progress. The manifest arrives first, then the model becomes usable, and later it is complete. */
interface Load {
  readonly opened: PromiseWithResolvers<Opened>;
  readonly usable: PromiseWithResolvers<Model>;
  /** Resolves when the load has succeeded or failed. */
  readonly ended: PromiseWithResolvers<void>;
  readonly since: number;
}

/** Loads a published model on first use, and replaces it with newer versions. If a newer version fails to load, the old one stays. */
export function modelHolder({
  store,
  name,
  version,
  engine,
  reserve = async () => {},
  warmUp: shapes = [],
  refreshMs = 60_000,
  loadTimeoutMs = 25_000,
  report = (error) => console.error(`bert-edge: loading ${name} failed:`, error),
  now = Date.now,
}: ModelHolderOptions) {
  const uses = releasedAfterUse(releaseModel);
  /** Expected bytes of each model, for engines that cannot measure them. */
  const sizes = new WeakMap<Model, number>();
  /** The loaded model, and the load in progress: of the first version, or of a newer one. */
  let current: Model | undefined;
  let loading: Load | undefined;
  /** Time at which the last load began; −∞ before the first load, and after the model was unloaded. */
  let checkedAt = Number.NEGATIVE_INFINITY;
  /** The last failure; undefined after a success. `since` is the time of the first failure of its series. */
  let failure: { readonly code: ErrorCode; readonly since: number; readonly at: number } | undefined;
  /** Time at which the store last reported that it does not have `version`. */
  let missingAt = Number.NEGATIVE_INFINITY;

  /** Fetches the current version. Resolves when it is completely loaded and has replaced the old one. */
  async function fetchCurrent({ opened, usable }: Load): Promise<Model> {
    if (version !== undefined && now() - missingAt < MISSING_MS) throw noSuchVersion(name, version);
    const old = current;
    const pointer = await readPointer(store, name, version).catch((error: unknown) => {
      if (version === undefined || !hasCode(error, "model_not_published")) throw error;
      missingAt = now();
      throw noSuchVersion(name, version);
    });
    if (old?.version === pointer.version) {
      old.measurements = pointer.measurements ?? {};
      return old;
    }
    const artifact = await openPublished(store, pointer);
    opened.resolve({ version: artifact.version, manifest: artifact.manifest });
    const size = expectedBytes(artifact, engine.name);
    await reserve(size);
    const next = await startModel(artifact, engine);
    sizes.set(next, size);
    const running = `bert-edge: ${name}@${next.version} runs on ${next.provider}`;
    for (const { provider, why } of next.passedOver) {
      console.error(`${running}, because ${provider} cannot load it: ${why}`);
    }
    // Until the model is complete, the load is one of its users, so that nothing releases it.
    const work = uses.using(next, async () => {
      await warmUp(next, shapes);
      usable.resolve(next);
      await next.complete;
      // A newer version must compute a text before it replaces the old version, which works. The first version replaces nothing.
      if (old) await computeShortText(next);
      // If this load has taken longer than loadTimeoutMs, a later load may have replaced `old` already. Then its model stays.
      if (current && current !== old) return current;
      current = next;
      void reserve(0);
      return next;
    });
    const held = await work.catch(async (error: unknown) => {
      await uses.retire(next);
      throw error;
    });
    const replaced = held === next ? old : next;
    if (replaced) await uses.retire(replaced);
    return held;
  }

  async function run(load: Load): Promise<void> {
    const { opened, usable, ended } = load;
    try {
      const model = await fetchCurrent(load);
      failure = undefined;
      opened.resolve(model);
      usable.resolve(model);
    } catch (cause) {
      const error = failed(cause);
      opened.reject(error);
      usable.reject(error);
      // Not reported: a version that does not exist is the caller's mistake.
      if (!hasCode(cause, "model_unknown")) report(cause);
    } finally {
      // If this load took too long, a later load may have replaced it.
      if (loading === load) loading = undefined;
      await reserve(0);
      ended.resolve();
    }
  }

  /**
   * Starts a load, or returns the one in progress. A Worker stops a load, with its timers, when the request that started it
   * ends. Such a load never settles, so its age is checked.
   */
  function start(background: Background): Load {
    if (loading && now() - loading.since < loadTimeoutMs) return loading;
    const load: Load = {
      opened: Promise.withResolvers(),
      usable: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      since: now(),
    };
    // If no caller waits for these promises, nothing handles their rejections. Node exits on an unhandled rejection.
    for (const { promise } of [load.opened, load.usable]) promise.catch(() => {});
    loading = load;
    checkedAt = load.since;
    background(run(load));
    return load;
  }

  /** Notes the error of a load. Returns it with the time after which a retry makes sense. */
  function failed(error: unknown): unknown {
    if (hasCode(error, "model_unknown")) return error;
    const { code, message, hint } = error instanceof BertEdgeError ? error : unforeseen(name);
    const at = now();
    // Failures that are further apart begin a new series, because nobody tried to load the model in between.
    const since = failure && at - failure.at <= LONGEST_GAP_MS ? failure.since : at;
    failure = { code, since, at };
    const retryAfterMs = Math.min(Math.max(RETRY_MS, at - since), LONGEST_RETRY_MS);
    return new BertEdgeError(code, message, { hint, retryAfterMs, cause: error });
  }

  const late = () =>
    new BertEdgeError("model_unavailable", `The model ${name} did not load within ${loadTimeoutMs} ms.`, {
      hint: "Try again shortly. If this happens again, check the object store.",
    });
  const inTime = <T>({ promise }: PromiseWithResolvers<T>) => withDeadline(promise, loadTimeoutMs, late);

  return {
    name,
    /** Returns the version of the loaded model; undefined if none is loaded. */
    version: () => current?.version,
    /** Returns the loaded model, or undefined. Loads the model, or checks for a newer version, in the background. */
    current(background: Background): Model | undefined {
      const isFinal = current !== undefined && version !== undefined;
      if (!isFinal && now() - checkedAt >= (current ? refreshMs : RETRY_MS)) start(background);
      return current;
    },
    /** Resolves to the model as soon as requests can wait for it alone, maybe before all weights are loaded: see `Model.complete`. */
    load: async (background: Background): Promise<Model> => current ?? inTime(start(background).usable),
    /** Resolves to the model's version and manifest, which arrive before its weights. */
    opened: async (background: Background): Promise<Opened> => current ?? inTime(start(background).opened),
    /** Runs `work` on a model, which is not released before `work` ends. */
    using: uses.using,
    /** Returns the error code of the last failed load; undefined if no load has failed since the last success. */
    failure: () => failure?.code,
    /** Whether a model is loaded. A model that was unloaded after `load` has resolved cannot be used: load it again. */
    holds: (model: Model): boolean => model === current || uses.isUsed(model),
    /** Unloads the model. Resolves when its last user has ended and it is released. The next request loads it again. */
    async unload(): Promise<void> {
      await loading?.ended.promise;
      const model = current;
      if (!model) return;
      current = undefined;
      checkedAt = Number.NEGATIVE_INFINITY;
      await uses.retire(model);
      await uses.released(model);
    },
    /** Returns the bytes of the loaded model, and of retired models that are still in use. */
    bytes(): number {
      const loaded = [current ?? [], ...uses.retiring()].flat();
      return loaded.reduce((sum, model) => sum + (model.memoryBytes() ?? sizes.get(model) ?? 0), 0);
    },
  };
}

export type ModelHolder = ReturnType<typeof modelHolder>;

const hasCode = (error: unknown, code: ErrorCode): boolean => error instanceof BertEdgeError && error.code === code;

/** Returns the error that callers get when a load fails unexpectedly. It hides the cause, which only `report` gets. */
const unforeseen = (name: string): BertEdgeError =>
  new BertEdgeError("model_unavailable", `The model ${name} cannot be loaded now.`, { hint: "Try again shortly." });

const noSuchVersion = (name: string, version: string): BertEdgeError =>
  new BertEdgeError("model_unknown", `The model ${name} has no version ${version}.`, {
    hint: [{ set: "model", to: name, why: "for the current version" }],
  });

/** Computes a short text to check that tokenizer, weights and engine fit each other. @throws BertEdgeError the errors of `Model.run` */
async function computeShortText({ manifest, tokenizer, run }: Model): Promise<void> {
  await run([tokenizer.encode("a", manifest.maxTokens).ids]);
}

/** Number of texts in a request, and number of tokens per text. Texts that are too long for the model are shortened. */
export type WarmUpShape = readonly [texts: number, tokens: number];

/**
 * Runs a new model before its first request, which would otherwise wait for memory, kernels and caches. Each shape runs once
 * alone, and then `parallel` times side by side.
 */
async function warmUp({ manifest, parallel, run }: Model, shapes: readonly WarmUpShape[]): Promise<void> {
  for (const [texts, tokens] of shapes) {
    const sequences = Array.from({ length: texts }, () => new Int32Array(Math.min(tokens, manifest.maxTokens)));
    await run(sequences);
    await Promise.all(Array.from({ length: parallel }, () => run(sequences)));
  }
}

/** Returns the peak memory that `prepare` measured. Without a measurement, returns the size of the model file. */
function expectedBytes({ manifest, measurements }: Artifact, engine: Engine["name"]): number {
  const targets = Object.entries(manifest.targets) as [TargetName, Target][];
  const bytes = targets.map(([name, target]) => {
    if (target.engine !== engine) return 0;
    return measurements[name]?.memory?.peak ?? manifest.files[target.model]?.size ?? 0;
  });
  return Math.max(0, ...bytes);
}
