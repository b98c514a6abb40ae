import { afterEach, describe, expect, it, vi } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import {
  backgroundWork,
  type FakeEngineOptions,
  fakeEngine,
  hiddenStatesOf,
  latch,
  publishTiny,
  TINY,
  tinyStore,
} from "#test/fixtures/tiny-model.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import type { BertEdgeError } from "../../artifact/error.ts";
import type { ObjectStore, WritableStore } from "../../storage/store.ts";
import type { TokenIds } from "../engine/engine.ts";
import { embedCall } from "../tasks/embed.ts";
import { type ModelHolderOptions, modelHolder } from "./model-holder.ts";

const REFRESH_MS = 60_000;
const RETRY_MS = 1_000;
const log = errorLog();
afterEach(() => void vi.useRealTimers());

/** Makes a holder of a published model, with a clock that the test controls. */
async function setUp(engineOptions: FakeEngineOptions = {}, options: Partial<ModelHolderOptions> = {}) {
  const store = await tinyStore();
  const engine = fakeEngine(engineOptions);
  const clock = { now: 1_000_000 };
  const { background, settled, size } = backgroundWork();
  const holder = modelHolder({
    store,
    name: TINY.name,
    engine,
    refreshMs: REFRESH_MS,
    now: () => clock.now,
    ...options,
  });
  return { store, engine, clock, holder, background, settled, backgroundSize: size };
}

/** Wraps a store. The wrapper records reads, and fails while `fault` is set. */
function watched(store: WritableStore): ObjectStore & { reads: string[]; fault: Error | undefined } {
  const watching = {
    name: store.name,
    reads: [] as string[],
    fault: undefined as Error | undefined,
    async open(key: string, signal: AbortSignal) {
      watching.reads.push(key);
      if (watching.fault) throw watching.fault;
      return store.open(key, signal);
    },
  };
  return watching;
}
const pointerReads = (reads: readonly string[]) => reads.filter((key) => key.endsWith("current.json")).length;

describe("loading", () => {
  it("loads once for many callers at the same time, and never again", async () => {
    const { holder, engine, background } = await setUp();
    const models = await Promise.all(Array.from({ length: 20 }, () => holder.load(background)));
    expect(new Set(models).size).toBe(1);
    expect(await holder.load(background)).toBe(models[0]);
    expect(engine.sessions).toHaveLength(1);
  });

  it("is started in the background by `current`, which returns nothing at first", async () => {
    const { holder, engine, background, settled, backgroundSize } = await setUp();
    expect(holder.current(background)).toBeUndefined();
    expect(holder.current(background)).toBeUndefined();
    expect(backgroundSize()).toBe(1);
    await settled();
    expect(holder.current(background)?.manifest.name).toBe(TINY.name);
    expect(engine.sessions).toHaveLength(1);
  });

  it("is shared by `load` if it has already started", async () => {
    const { holder, engine, background } = await setUp();
    holder.current(background);
    await holder.load(background);
    expect(engine.sessions).toHaveLength(1);
  });

  it("fails for all waiting callers, but not for later ones", async () => {
    let broken = true;
    const { holder, engine, background } = await setUp({
      onLoad: () => {
        if (broken) throw new Error("no memory");
      },
    });
    const outcomes = await Promise.allSettled([holder.load(background), holder.load(background)]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
    broken = false;
    await expect(holder.load(background)).resolves.toMatchObject({ manifest: { name: TINY.name } });
    expect(engine.sessions).toHaveLength(1);
  });

  it("is not tried again by `current` before a second has passed", async () => {
    const { store, clock, background } = await setUp();
    const unreliable = watched(store);
    unreliable.fault = new Error("the store is down");
    const holder = modelHolder({ store: unreliable, name: TINY.name, engine: fakeEngine(), now: () => clock.now });
    const look = async () => {
      const { background, settled } = backgroundWork();
      holder.current(background);
      await settled();
    };
    await look();
    clock.now += RETRY_MS - 1;
    await look();
    expect(pointerReads(unreliable.reads)).toBe(1);
    clock.now += 1;
    await look();
    expect(pointerReads(unreliable.reads)).toBe(2);
    unreliable.fault = undefined;
    clock.now += RETRY_MS;
    await look();
    expect(holder.current(background)?.manifest.name).toBe(TINY.name);
  });

  it("logs the error of a load in the background", async () => {
    const { store, background } = await setUp();
    const unreliable = watched(store);
    unreliable.fault = new Error("the store is down");
    const holder = modelHolder({ store: unreliable, name: TINY.name, engine: fakeEngine() });
    await expect(holder.load(background)).rejects.toThrow("the store is down");
    await waitFor(() =>
      expect(log).toHaveBeenCalledWith(
        expect.stringContaining(TINY.name),
        expect.objectContaining({ code: "storage_unavailable", cause: unreliable.fault }),
      ),
    );
  });

  it("fails with the name of a model that is not in the store", async () => {
    const { store, background } = await setUp();
    const holder = modelHolder({ store, name: "other", engine: fakeEngine() });
    await expect(holder.load(background)).rejects.toMatchObject({
      code: "model_not_published",
      message: expect.stringContaining("other"),
    });
  });

  it("asks callers to wait as long as loads have failed, and says with which code, until one succeeds", async () => {
    const { store, background, clock } = await setUp();
    const unreliable = watched(store);
    const holder = modelHolder({ store: unreliable, name: TINY.name, engine: fakeEngine(), now: () => clock.now });
    expect(holder.failure()).toBeUndefined();
    unreliable.fault = new Error("lost");
    const pauses: unknown[] = [];
    for (const afterMs of [0, 500, 3_500, 50_000, 50_000, 3_600_000]) {
      clock.now += afterMs;
      await holder.load(background).catch(({ retryAfterMs }) => pauses.push(retryAfterMs));
    }
    expect(pauses).toEqual([1_000, 1_000, 4_000, 54_000, 60_000, 1_000]);
    expect(holder.failure()).toBe("storage_unavailable");
    unreliable.fault = undefined;
    const next = holder.load(background);
    expect(holder.failure()).toBe("storage_unavailable"); // a probe each second always finds a load in progress
    await next;
    await waitFor(() => expect(holder.failure()).toBeUndefined());
  });

  it("fails without a line in the log if the store has no such version, and looks for it again only after 5 s", async () => {
    const { store, background } = await setUp();
    const open = vi.spyOn(store, "open");
    let time = 0;
    const version = "000000000000";
    const holder = modelHolder({ store, name: TINY.name, version, engine: fakeEngine(), now: () => time });
    for (const [at, reads] of [
      [0, 1],
      [4_999, 1],
      [5_000, 2],
    ] as const) {
      time = at;
      await expect(holder.load(background)).rejects.toMatchObject({
        code: "model_unknown",
        message: expect.stringContaining(version),
      });
      expect(open).toHaveBeenCalledTimes(reads);
    }
    expect(log).not.toHaveBeenCalled();
  });
});

describe("a model that answers before it is complete", () => {
  it("is returned by `load` at once, and by `current` when it is complete", async () => {
    const rest = latch();
    const { holder, engine, background, settled } = await setUp({ complete: () => rest.promise });
    const early = await holder.load(background);
    expect(await holder.using(early, (model) => model.call(embedCall(["to be"])))).toHaveLength(1);
    expect(await holder.load(background)).toBe(early);
    expect(holder.current(background)).toBeUndefined();
    rest.resolve();
    await settled();
    expect(holder.current(background)).toBe(early);
    expect(await holder.load(background)).toBe(early);
    expect(engine.sessions).toHaveLength(1);
  });

  it("is released after its last user if the rest fails to load, and loaded again for the next caller", async () => {
    const [rest, use] = [latch(), latch()];
    let loads = 0;
    const { holder, engine, background, settled } = await setUp({
      complete: () => (loads++ === 0 ? rest.promise : undefined),
    });
    const early = await holder.load(background);
    const using = holder.using(early, async (model) => {
      await use.promise;
      return model.call(embedCall(["to be"]));
    });
    rest.reject(new Error("connection lost"));
    await settled();
    expect(log).toHaveBeenCalledWith(expect.stringContaining("loading"), new Error("connection lost"));
    expect(engine.sessions[0]?.releases).toBe(0);
    expect(await holder.load(background)).not.toBe(early);
    use.resolve();
    expect(await using).toHaveLength(1);
    expect(engine.sessions.map(({ releases }) => releases)).toEqual([1, 0]);
  });

  it("is abandoned if the rest takes too long, and does not replace the next one", async () => {
    const rest = latch();
    let loads = 0;
    const { holder, engine, clock, background, settled } = await setUp(
      { complete: () => (loads++ === 0 ? rest.promise : undefined) },
      { loadTimeoutMs: 5_000 },
    );
    const early = await holder.load(background);
    clock.now += 4_999;
    expect(await holder.load(background)).toBe(early);
    clock.now += 1;
    const next = await holder.load(background);
    expect(next).not.toBe(early);
    rest.resolve();
    await settled();
    expect(holder.current(background)).toBe(next);
    expect(engine.sessions.map(({ releases }) => releases)).toEqual([1, 0]);
  });

  it("replaces the old version only when it is complete", async () => {
    const [usable, rest] = [latch(), latch()];
    const { holder, store, clock, background, settled } = await setUp({
      complete(weights) {
        if (weights !== "newer") return undefined;
        usable.resolve();
        return rest.promise;
      },
    });
    const old = await holder.load(background);
    const version = await publishTiny(store, "newer");
    clock.now += REFRESH_MS;
    holder.current(background);
    await usable.promise;
    // One turn of the event loop later, the holder has finished its work on the usable model.
    await new Promise((resolve) => setImmediate(resolve));
    expect(holder.current(background)).toBe(old);
    expect(await holder.load(background)).toBe(old);
    rest.resolve();
    await settled();
    expect(holder.current(background)?.version).toBe(version);
  });
});

describe("the warm-up", () => {
  it("runs each shape before the model can be used, with at most the model's maximum of tokens", async () => {
    const lengths: number[][] = [];
    const run = async (sequences: readonly TokenIds[]) => {
      lengths.push(sequences.map(({ length }) => length));
      return sequences.map(hiddenStatesOf);
    };
    const shapes = [
      [1, 128],
      [2, 3],
    ] as const;
    const { holder, background } = await setUp({ run }, { warmUp: shapes });
    await holder.load(background);
    expect(lengths).toEqual([[TINY.maxTokens], [TINY.maxTokens], [3, 3], [3, 3]]);
  });

  it("fails the load when it fails, and releases the model", async () => {
    const run = () => Promise.reject(new Error("no memory"));
    const { holder, background, engine } = await setUp({ run }, { warmUp: [[1, 8]] });
    await expect(holder.load(background)).rejects.toThrow("no memory");
    expect(engine.sessions.map(({ releases }) => releases)).toEqual([1]);
  });
});

describe("what is known before the load", () => {
  it("resolves before the weights arrive, and also after the model is loaded", async () => {
    const weights = latch();
    const { holder, engine, background, settled } = await setUp({ onLoad: () => weights.promise });
    const { manifest, version } = await holder.opened(background);
    expect(manifest).toMatchObject({ name: TINY.name, dimensions: TINY.dimensions });
    expect(engine.sessions).toHaveLength(0);
    weights.resolve();
    await settled();
    expect(await holder.opened(background)).toBe(holder.current(background));
    expect(holder.current(background)?.version).toBe(version);
    expect(engine.sessions).toHaveLength(1);
  });

  it("rejects with the error of the load", async () => {
    const { store, background } = await setUp();
    const holder = modelHolder({ store, name: "other", engine: fakeEngine() });
    await expect(holder.opened(background)).rejects.toMatchObject({ code: "model_not_published" });
  });
});

describe("a model that is not published", () => {
  it("is asked for less and less often by callers who wait as long as they are told", async () => {
    let now = 0;
    const options = { store: await tinyStore(), name: "other", engine: fakeEngine(), report: () => {}, now: () => now };
    const holder = modelHolder(options);
    const pauses: number[] = [];
    for (let i = 0; i < 12; i++) {
      const error = await holder.load(() => {}).catch((error: BertEdgeError) => error);
      const { code, retryAfterMs = 0 } = error as BertEdgeError;
      expect(code).toBe("model_not_published");
      pauses.push(retryAfterMs);
      now += retryAfterMs + 200;
    }
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.slice(-3)).toEqual([60_000, 60_000, 60_000]);
  });
});

describe("the load timeout", () => {
  it("gives up on a load that hangs, and lets the next caller try again", async () => {
    const store = await tinyStore();
    vi.useFakeTimers();
    const hang = latch();
    let loads = 0;
    const engine = fakeEngine({ onLoad: () => (loads++ === 0 ? hang.promise : undefined) });
    const { background } = backgroundWork();
    const holder = modelHolder({ store, name: TINY.name, engine, loadTimeoutMs: 500 });
    const first = holder.load(background);
    const refused = expect(first).rejects.toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("500 ms"),
    });
    await vi.advanceTimersByTimeAsync(500);
    await refused;
    await expect(holder.load(background)).resolves.toMatchObject({ manifest: { name: TINY.name } });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not wait for a load whose request has ended together with its timers", async () => {
    const dead = new Promise<void>(() => {});
    const begun = latch();
    let loads = 0;
    const onLoad = () => {
      begun.resolve();
      return loads++ === 0 ? dead : undefined;
    };
    const { holder, clock, background } = await setUp({ onLoad }, { loadTimeoutMs: 5_000 });
    holder.current(background);
    await begun.promise;
    clock.now += 5_000;
    await expect(holder.load(background)).resolves.toMatchObject({ manifest: { name: TINY.name } });
  });

  it("accepts a late model if no other one has been loaded", async () => {
    const store = await tinyStore();
    vi.useFakeTimers();
    const slow = latch();
    const engine = fakeEngine({ onLoad: () => slow.promise });
    const { background } = backgroundWork();
    const holder = modelHolder({ store, name: TINY.name, engine, loadTimeoutMs: 500 });
    const refused = expect(holder.load(background)).rejects.toMatchObject({ code: "model_unavailable" });
    await vi.advanceTimersByTimeAsync(500);
    await refused;
    slow.resolve();
    await waitFor(() => expect(holder.current(background)).toBeDefined());
    expect(engine.sessions).toHaveLength(1);
  });

  it("does not let a late model replace one that was loaded after it", async () => {
    const store = await tinyStore();
    vi.useFakeTimers();
    const slow = latch();
    const engine = fakeEngine({ onLoad: (weights) => (weights === "tiny" ? slow.promise : undefined) });
    const { background } = backgroundWork();
    const holder = modelHolder({ store, name: TINY.name, engine, loadTimeoutMs: 500 });
    const refused = expect(holder.load(background)).rejects.toMatchObject({ code: "model_unavailable" });
    await vi.advanceTimersByTimeAsync(500);
    await refused;
    const newer = await publishTiny(store, "newer");
    expect((await holder.load(background)).version).toBe(newer);
    slow.resolve();
    await waitFor(() => expect(engine.sessions[1]?.releases).toBe(1));
    expect(engine.sessions[1]?.weights).toBe("tiny");
    expect(holder.current(background)?.version).toBe(newer);
    expect(engine.sessions[0]?.releases).toBe(0);
  });
});

describe("a newer version", () => {
  it("is checked for once per refresh interval", async () => {
    const { store, clock } = await setUp();
    const counted = watched(store);
    const { background, settled } = backgroundWork();
    const holder = modelHolder({
      store: counted,
      name: TINY.name,
      engine: fakeEngine(),
      refreshMs: REFRESH_MS,
      now: () => clock.now,
    });
    await holder.load(background);
    clock.now += REFRESH_MS - 1;
    holder.current(background);
    await settled();
    expect(pointerReads(counted.reads)).toBe(1);
    clock.now += 1;
    holder.current(background);
    holder.current(background);
    await settled();
    expect(pointerReads(counted.reads)).toBe(2);
  });

  it("is not loaded when the version is unchanged", async () => {
    const { holder, store, engine, clock, background, settled } = await setUp();
    const model = await holder.load(background);
    await publishTiny(store);
    clock.now += REFRESH_MS;
    holder.current(background);
    await settled();
    expect(holder.current(background)).toBe(model);
    expect(engine.sessions).toHaveLength(1);
  });

  it("replaces the old one, which keeps answering until then and is released afterwards", async () => {
    const { holder, store, engine, clock, background, settled } = await setUp();
    const old = await holder.load(background);
    const version = await publishTiny(store, "newer");
    clock.now += REFRESH_MS;
    expect(holder.current(background)).toBe(old);
    await settled();
    expect(holder.current(background)?.version).toBe(version);
    expect(engine.sessions.map(({ releases }) => releases)).toEqual([1, 0]);
  });

  it("does not replace the old one unless it computes", async () => {
    const run: FakeEngineOptions["run"] = async (batch, { weights }) =>
      batch.map((ids) => hiddenStatesOf(ids).fill(weights === "newer" ? Number.NaN : 1));
    const { holder, store, engine, clock, background, settled } = await setUp({ run });
    const old = await holder.load(background);
    await publishTiny(store, "newer");
    clock.now += REFRESH_MS;
    holder.current(background);
    await settled();
    expect(holder.current(background)).toBe(old);
    expect(holder.failure()).toBe("vector_invalid");
    expect(engine.sessions.map(({ releases }) => releases)).toEqual([0, 1]);
    expect(log.mock.calls.flat()).toContainEqual(expect.objectContaining({ code: "vector_invalid" }));
  });

  it("causes exactly one release of the old one, after its last user", async () => {
    const { holder, store, engine, clock, background, settled } = await setUp();
    const old = await holder.load(background);
    const [first, second] = [latch(), latch()];
    const uses = [first, second].map(({ promise }) =>
      holder.using(old, async (model) => {
        await promise;
        return model.call(embedCall(["to be"]));
      }),
    );
    await publishTiny(store, "newer");
    clock.now += REFRESH_MS;
    holder.current(background);
    await settled();
    expect(holder.current(background)).not.toBe(old);

    const releases = () => engine.sessions[0]?.releases;
    expect(releases()).toBe(0);
    first.resolve();
    await expect(uses[0]).resolves.toHaveLength(1);
    expect(releases()).toBe(0);
    second.resolve();
    await expect(uses[1]).resolves.toHaveLength(1);
    expect(releases()).toBe(1);
  });

  it("causes the release of the old one even if its last user failed", async () => {
    const { holder, store, engine, clock, background, settled } = await setUp();
    const old = await holder.load(background);
    const use = latch();
    const failing = holder.using(old, () => use.promise);
    await publishTiny(store, "newer");
    clock.now += REFRESH_MS;
    holder.current(background);
    await settled();
    use.reject(new Error("the request failed"));
    await expect(failing).rejects.toThrow("the request failed");
    expect(engine.sessions[0]?.releases).toBe(1);
  });

  it("that cannot be loaded leaves the old one answering, and is tried again at the next refresh", async () => {
    let loadable = false;
    const { holder, store, engine, clock, background, settled } = await setUp({
      onLoad: (weights) => {
        if (weights === "broken" && !loadable) throw new Error("cannot load");
      },
    });
    const old = await holder.load(background);
    const version = await publishTiny(store, "broken");
    const refresh = async () => {
      clock.now += REFRESH_MS;
      holder.current(background);
      await settled();
      return holder.current(background);
    };
    expect(await refresh()).toBe(old);
    expect(await holder.load(background)).toBe(old);
    expect(engine.sessions[0]?.releases).toBe(0);
    await expect(holder.using(old, (model) => model.call(embedCall(["to be"])))).resolves.toHaveLength(1);
    expect(log).toHaveBeenCalled();

    loadable = true;
    expect((await refresh())?.version).toBe(version);
  });

  it("with an invalid pointer leaves the old one answering", async () => {
    const { holder, store, clock, background, settled } = await setUp();
    const old = await holder.load(background);
    await store.put(`models/${TINY.name}/current.json`, new TextEncoder().encode("{"), { contentType: "" });
    clock.now += REFRESH_MS;
    holder.current(background);
    await settled();
    expect(holder.current(background)).toBe(old);
  });

  it("stays loaded if the old one fails to release, and the old one still finishes its answers", async () => {
    const { holder, store, clock, background, settled } = await setUp({
      onRelease: () => {
        throw new Error("cannot release");
      },
    });
    const old = await holder.load(background);
    const use = latch();
    const using = holder.using(old, async () => {
      await use.promise;
      return "answer";
    });
    const version = await publishTiny(store, "newer");
    clock.now += REFRESH_MS;
    holder.current(background);
    await settled();
    expect(holder.current(background)?.version).toBe(version);
    use.resolve();
    await expect(using).resolves.toBe("answer");
    expect(log).toHaveBeenCalledWith(expect.stringContaining("releasing"), expect.any(Error));
  });
});
