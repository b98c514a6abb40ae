import { BertEdgeError } from "../artifact/error.ts";
import { type EmbedManifest, sentenceEncoder } from "../artifact/manifest.ts";
import { withDeadline } from "../artifact/with-deadline.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { type Model, releaseModel, startModel } from "../runtime/model.ts";
import { type ReleasedAfterUse, releasedAfterUse } from "../runtime/released-after-use.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";
import type { Background } from "./service.ts";
import { type WarmUpShape, warmUp } from "./warm-up.ts";

export interface ModelHolderOptions {
  store: ObjectStore;
  /** The name of the published model. */
  name: string;
  engine: Engine;
  /** Texts that a new model computes before it answers. Default: none. */
  warmUp?: readonly WarmUpShape[] | undefined;
  /** Interval between checks for a newer version, in ms. Default 60,000. */
  refreshMs?: number;
  /**
   * Maximum time of a load, in ms. A slower load counts as failed, and the next request starts another one.
   * Default 25,000, because Workers stop background work 30 s after the response.
   */
  loadTimeoutMs?: number;
  now?: () => number;
}

/** Pause after a failed load before `current` starts another one. `load` does not pause. */
const RETRY_MS = 1_000;

export interface ModelHolder {
  readonly name: string;
  /** Returns the loaded model, or undefined. Loads the model, or checks for a newer version, in the background. */
  current(background: Background): Model | undefined;
  /**
   * Resolves to the model as soon as the model can answer, which may be before all weights are loaded: see
   * `Model.complete`.
   */
  load(background: Background): Promise<Model>;
  /** Resolves to the model's version and manifest, which arrive before its weights. */
  opened(background: Background): Promise<Opened>;
  /** Runs `work` on `model`, which is not released before `work` ends. */
  using: ReleasedAfterUse<Model>["using"];
}

/** Properties of a model that are known before it is loaded. */
export interface Opened {
  readonly version: string;
  readonly manifest: EmbedManifest;
}

/** A load in progress. The manifest arrives first, then the model becomes usable, and later it is complete. */
interface Loading {
  readonly opened: PromiseWithResolvers<Opened>;
  readonly usable: PromiseWithResolvers<Model>;
  readonly since: number;
}

/**
 * Makes a holder that loads a published model on first use and replaces it with newer versions. If a newer version
 * fails to load, the old one keeps answering.
 */
export function modelHolder(options: ModelHolderOptions): ModelHolder {
  const {
    store,
    name,
    engine,
    warmUp: shapes = [],
    refreshMs = 60_000,
    loadTimeoutMs = 25_000,
    now = Date.now,
  } = options;
  const uses = releasedAfterUse(releaseModel);
  let held: Model | undefined;
  let loading: Loading | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  /** Fetches the current version. Resolves when it is completely loaded and has replaced the old one. */
  async function fetchCurrent({ opened, usable }: Loading): Promise<Model> {
    const old = held;
    const pointer = await readPointer(store, name);
    if (old?.version === pointer.version) {
      old.measurements = pointer.measurements ?? {};
      return old;
    }
    const artifact = await openPublished(store, pointer);
    opened.resolve({ version: artifact.version, manifest: sentenceEncoder(artifact.manifest) });
    const next = await startModel(artifact, engine);
    for (const { provider, why } of next.passedOver) {
      console.error(
        `bert-edge: ${name}@${next.version} runs on ${next.provider}, because ${provider} cannot load it: ${why}`,
      );
    }
    try {
      await warmUp(next, shapes);
      usable.resolve(next);
      await next.complete;
    } catch (error) {
      await uses.retire(next);
      throw error;
    }
    if (held && held !== old) {
      // This load took longer than loadTimeoutMs, and a later load has already finished.
      await uses.retire(next);
      return held;
    }
    held = next;
    if (old) await uses.retire(old);
    return next;
  }

  /**
   * Starts a load, or returns the one in progress. If a load fails, all waiting callers get the error, and the next
   * caller starts another load. A Worker stops a load, with its timers, when the request that started the load ends.
   * Such a load never settles, so `start` checks the age of the load.
   */
  function start(background: Background): Loading {
    if (loading && now() - loading.since < loadTimeoutMs) return loading;
    checkedAt = now();
    const opened = Promise.withResolvers<Opened>();
    const usable = Promise.withResolvers<Model>();
    const current = { opened, usable, since: checkedAt };
    loading = current;
    const whole = fetchCurrent(current).finally(() => {
      if (loading === current) loading = undefined;
    });
    whole.then(
      (model) => {
        opened.resolve(model);
        usable.resolve(model);
      },
      (error: unknown) => {
        opened.reject(error);
        usable.reject(error);
      },
    );
    // If no caller waits for these promises, nothing handles their rejections. Node exits on an unhandled rejection.
    for (const { promise } of [opened, usable]) promise.catch(() => {});
    background(whole.catch((error: unknown) => console.error(`bert-edge: loading ${name} failed:`, error)));
    return current;
  }

  const inTime = <T>(promise: Promise<T>): Promise<T> =>
    withDeadline(
      promise,
      loadTimeoutMs,
      () =>
        new BertEdgeError("model_unavailable", `The model ${name} did not load within ${loadTimeoutMs} ms.`, {
          hint: "Try again shortly. If this happens again, check the object store.",
        }),
    );

  return {
    name,
    current(background) {
      if (now() - checkedAt >= (held ? refreshMs : RETRY_MS)) start(background);
      return held;
    },
    load: async (background) => held ?? inTime(start(background).usable.promise),
    opened: async (background) => held ?? inTime(start(background).opened.promise),
    using: uses.using,
  };
}
