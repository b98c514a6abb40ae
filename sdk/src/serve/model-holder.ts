import { BertEdgeError } from "../artifact/error.ts";
import { withDeadline } from "../artifact/with-deadline.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { type Model, releaseModel, startModel } from "../runtime/model.ts";
import { type ReleasedAfterUse, releasedAfterUse } from "../runtime/released-after-use.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";
import type { Background } from "./service.ts";

export interface ModelHolderOptions {
  store: ObjectStore;
  name: string;
  engine: Engine;
  /** How often the store is asked for a newer version. Default 60 000. */
  refreshMs?: number;
  /**
   * A load that takes longer counts as failed and is tried again by the next request. Default 25 000: Workers let work go
   * on for 30 s after the response.
   */
  loadTimeoutMs?: number;
  now?: () => number;
}

/** After a failed load, requests that need not wait for the model do not try again sooner. */
const RETRY_MS = 1_000;

export interface ModelHolder {
  readonly name: string;
  /** The loaded model, if there is one. Starts loading it, or looking for a newer version, in the background. */
  current(background: Background): Model | undefined;
  /** The loaded model, waiting for it to load as far as it needs to answer. */
  load(background: Background): Promise<Model>;
  /** Keeps `model` from being released while `work` uses it. */
  using: ReleasedAfterUse<Model>["using"];
}

/**
 * Loads a published model on first use and swaps in newer versions. A newer version that does not load leaves the old
 * one answering.
 */
export function modelHolder(options: ModelHolderOptions): ModelHolder {
  const { store, name, engine, refreshMs = 60_000, loadTimeoutMs = 25_000, now = Date.now } = options;
  const uses = releasedAfterUse(releaseModel);
  let held: Model | undefined;
  let loading: { usable: Promise<Model>; since: number } | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  const late = () =>
    new BertEdgeError("model_unavailable", `The model ${name} did not load within ${loadTimeoutMs} ms.`, {
      hint: "Try again shortly; if it stays so, check the object store.",
    });

  /** @param onUsable told of a model that answers, of which the rest is still to come */
  async function fetchCurrent(onUsable: (model: Model) => void): Promise<Model> {
    const old = held;
    const pointer = await readPointer(store, name);
    if (old?.version === pointer.version) return old;
    const next = await startModel(await openPublished(store, pointer), engine);
    onUsable(next);
    try {
      await next.complete;
    } catch (error) {
      await uses.retire(next);
      throw error;
    }
    if (held && held !== old) {
      // This load was given up on, and the one after it has finished before it.
      await uses.retire(next);
      return held;
    }
    held = next;
    if (old) await uses.retire(old);
    return next;
  }

  /**
   * One load at a time, whoever asks, until the whole model has come; its failure is seen by all who wait and forgotten for
   * those who come later. On Workers a load and its timers end with the request that started it, so that its age is judged
   * by those who come.
   */
  function start(background: Background): Promise<Model> {
    if (loading && now() - loading.since < loadTimeoutMs) return loading.usable;
    checkedAt = now();
    const { promise: usable, resolve, reject } = Promise.withResolvers<Model>();
    const whole = fetchCurrent(resolve).finally(() => {
      if (loading?.usable === usable) loading = undefined;
    });
    whole.then(resolve, reject);
    loading = { usable, since: checkedAt };
    background(whole.catch((error: unknown) => console.error(`bert-edge: loading ${name} failed:`, error)));
    return usable;
  }

  return {
    name,
    current(background) {
      if (now() - checkedAt >= (held ? refreshMs : RETRY_MS)) start(background).catch(() => {});
      return held;
    },
    load: async (background) => held ?? withDeadline(start(background), loadTimeoutMs, late),
    using: uses.using,
  };
}
