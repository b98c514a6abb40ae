import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { latch } from "#test/fixtures/tiny-model.ts";
import { BertEdgeError } from "../artifact/error.ts";
import type { Model } from "./model.ts";
import { type ModelCache, modelCache } from "./model-cache.ts";

const LIMIT = 100;
const SIZES = { a: 40, b: 30, c: 30, d: 60, all: 100, more: 101 };
type Name = keyof typeof SIZES;
const names = Object.keys(SIZES) as Name[];

const log = errorLog();
afterEach(() => expect(log).not.toHaveBeenCalled());

/** Makes fake models with only a size, and records which of them are loaded. */
function models() {
  const loadedModels = new Map<Model, { name: Name; bytes: number; users: number }>();
  let loads = 0;
  const open = (name: Name): Model => {
    loads++;
    const model = {
      manifest: { name },
      memoryBytes: () => loadedModels.get(model)?.bytes ?? 0,
      async release() {
        if (loadedModels.get(model)?.users) throw new Error(`${name} is in use`);
        if (!loadedModels.delete(model)) throw new Error(`${name} is released twice`);
      },
    } as unknown as Model;
    loadedModels.set(model, { name, bytes: SIZES[name], users: 0 });
    return model;
  };
  const stateOf = (model: Model) => {
    const state = loadedModels.get(model);
    if (!state) throw new Error("a model was used that is not loaded");
    return state;
  };
  /** Calls `cache.using`, and counts the users of each model. */
  const using = <T>(cache: ModelCache, name: Name, work: (state: ReturnType<typeof stateOf>) => Promise<T>) =>
    cache.using(name, async (model) => {
      const state = stateOf(model);
      state.users++;
      try {
        return await work(state);
      } finally {
        stateOf(model).users--;
      }
    });
  const bytes = () => [...loadedModels.values()].reduce((sum, state) => sum + state.bytes, 0);
  const loaded = () => [...loadedModels.values()].map(({ name }) => name).sort();
  return { open, using, bytes, loaded, loads: () => loads };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const nothing = async () => {};

describe("modelCache", () => {
  it("loads a model once for all callers, and keeps the models that fit", async () => {
    const { open, using, loaded, loads } = models();
    const cache = modelCache({ limitBytes: LIMIT, load: async (name) => open(name as Name) });
    for (const name of ["a", "b", "c", "a"] as const) {
      await Promise.all([1, 2, 3].map(() => using(cache, name, nothing)));
    }
    expect({ loaded: loaded(), loads: loads() }).toEqual({ loaded: ["a", "b", "c"], loads: 3 });
    expect(cache.memoryBytes()).toBe(LIMIT);
  });

  it("waits until a model is complete, and releases it when that fails", async () => {
    const { open, using, loaded } = models();
    const rest = latch();
    const load = async (name: string) => {
      return { ...open(name as Name), complete: rest.promise };
    };
    const cache = modelCache({ limitBytes: LIMIT, load });
    const waiting = using(cache, "a", nothing);
    await settle();
    expect(loaded()).toEqual(["a"]);
    rest.reject(new Error("connection lost"));
    await expect(waiting).rejects.toThrow("connection lost");
    expect({ loaded: loaded(), bytes: cache.memoryBytes() }).toEqual({ loaded: [], bytes: 0 });
  });

  it("unloads only the least recently used models, until the new one fits", async () => {
    const { open, using, loaded } = models();
    const cache = modelCache({ limitBytes: LIMIT, load: async (name) => open(name as Name) });
    for (const name of ["b", "a", "c", "b", "d"] as const) await using(cache, name, nothing);
    expect(loaded()).toEqual(["b", "d"]);
  });

  it("refuses a model that is larger than the limit, and keeps all others", async () => {
    const { open, using, loaded } = models();
    const cache = modelCache({
      limitBytes: LIMIT,
      async load(name, reserve) {
        await reserve(SIZES[name as Name]);
        return open(name as Name);
      },
    });
    await using(cache, "a", nothing);
    await expect(using(cache, "more", nothing)).rejects.toMatchObject({
      code: "memory_full",
      message: "The model more needs 101 bytes, but the memory limit is 100 bytes.",
    });
    expect(loaded()).toEqual(["a"]);
    await using(cache, "all", nothing);
    expect(loaded()).toEqual(["all"]);
  });

  it("refuses a model that does not fit beside the models in use", async () => {
    const { open, using, loaded } = models();
    const cache = modelCache({ limitBytes: LIMIT, load: async (name) => open(name as Name) });
    const { promise, resolve } = latch();
    const busy = using(cache, "a", () => promise);
    await using(cache, "b", nothing);
    await expect(using(cache, "all", nothing)).rejects.toMatchObject({
      code: "memory_full",
      message: "The model all needs 100 bytes, but other models are in use and the limit is 100 bytes.",
    });
    expect(loaded()).toEqual(["a", "b"]);
    resolve();
    await busy;
    await using(cache, "all", nothing);
    expect(loaded()).toEqual(["all"]);
  });

  it("unloads other models when one has grown, or the grown one if it exceeds the limit alone", async () => {
    const { open, using, loaded } = models();
    const cache = modelCache({ limitBytes: LIMIT, load: async (name) => open(name as Name) });
    await using(cache, "b", nothing);
    const grow = (bytes: number) =>
      using(cache, "a", async (state) => {
        state.bytes += bytes;
      });
    await grow(40);
    expect(loaded()).toEqual(["a"]);
    await grow(40);
    expect({ loaded: loaded(), bytes: cache.memoryBytes() }).toEqual({ loaded: [], bytes: 0 });
  });

  it("fails for all callers of a failed load, and loads again for later callers", async () => {
    const { open, using, loaded } = models();
    let fails = true;
    const cache = modelCache({
      limitBytes: LIMIT,
      async load(name, reserve) {
        await reserve(SIZES[name as Name]);
        if (fails) throw new Error("the store is down");
        return open(name as Name);
      },
    });
    const outcomes = await Promise.allSettled([using(cache, "all", nothing), using(cache, "all", nothing)]);
    expect(outcomes).toMatchObject([{ reason: { message: "the store is down" } }, { status: "rejected" }]);
    expect(cache.memoryBytes()).toBe(0);
    fails = false;
    await using(cache, "all", nothing);
    expect(loaded()).toEqual(["all"]);
  });

  it("unloads a model on request after its last user, and loads it again for new callers", async () => {
    const { open, using, loaded } = models();
    const cache = modelCache({ limitBytes: LIMIT, load: async (name) => open(name as Name) });
    const { promise, resolve } = latch();
    const busy = using(cache, "a", () => promise);
    await settle();
    await cache.unload("a");
    await cache.unload("never loaded");
    await using(cache, "a", nothing);
    expect({ loaded: loaded(), bytes: cache.memoryBytes() }).toEqual({ loaded: ["a", "a"], bytes: 80 });
    resolve();
    await busy;
    await cache.unload("a");
    expect({ loaded: loaded(), bytes: cache.memoryBytes() }).toEqual({ loaded: [], bytes: 0 });
  });
});

/** Expected state of a loaded model. */
interface Expected {
  readonly name: Name;
  users: number;
}

type Command =
  | { readonly do: "begin"; readonly name: Name; readonly fails: boolean }
  | { readonly do: "end"; readonly use: number }
  | { readonly do: "unload"; readonly name: Name };

const name = fc.constantFrom(...names);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("begin"), name, fails: fc.nat(9).map((n) => n === 0) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("end"), use: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("unload"), name }) },
) as fc.Arbitrary<Command>;

describe.each([true, false])("modelCache, with room reserved before loading: %s", (reserves) => {
  it("behaves like a simple list of models in any sequence of uses, failures and unloads", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
        const { open, using, bytes, loaded } = models();
        let fails = false;
        const cache = modelCache({
          limitBytes: LIMIT,
          async load(name, reserve) {
            if (reserves) await reserve(SIZES[name as Name]);
            if (fails) throw new BertEdgeError("engine_failed", "The test makes this load fail.");
            return open(name as Name);
          },
        });
        let list: Expected[] = [];
        const leaving: Expected[] = [];
        const running: { entry: Expected; end: () => void; done: Promise<string> }[] = [];
        const total = () => [...list, ...leaving].reduce((sum, entry) => sum + SIZES[entry.name], 0);

        /**
         * Returns the list without the models that must make room for a new one; undefined if there is not enough room.
         */
        const withRoom = (bytes: number): Expected[] | undefined => {
          const kept = [...list];
          const sum = () => [...kept, ...leaving].reduce((all, entry) => all + SIZES[entry.name], bytes);
          while (sum() > LIMIT) {
            const unneeded = kept.findIndex(({ users }) => users === 0);
            if (unneeded < 0) return undefined;
            kept.splice(unneeded, 1);
          }
          return kept;
        };

        const begin = async (name: Name): Promise<string> => {
          const { promise, resolve } = latch();
          const known = list.find((entry) => entry.name === name);
          const kept = known ? list : withRoom(SIZES[name]);
          const expected = !known && fails && (!reserves || kept) ? "engine_failed" : kept ? "accepted" : "memory_full";
          // With `reserve`, models are unloaded before the load, even if the load then fails.
          if (kept && (expected === "accepted" || reserves)) list = kept;
          const done = refusalOf(using(cache, name, () => promise));
          await settle();
          if (expected === "accepted") {
            const entry = known ?? { name, users: 0 };
            entry.users++;
            list = [...list.filter((other) => other !== entry), entry];
            running.push({ entry, end: resolve, done });
          } else expect(await done).toBe(expected);
          return expected;
        };

        for (const command of commands) {
          if (command.do === "begin") {
            fails = command.fails;
            seen.add(await begin(command.name));
          } else if (command.do === "end") {
            const [ended] = running.splice(command.use % Math.max(1, running.length), 1);
            if (!ended) continue;
            ended.end();
            expect(await ended.done).toBe("accepted");
            ended.entry.users--;
            if (ended.entry.users === 0 && leaving.includes(ended.entry))
              leaving.splice(leaving.indexOf(ended.entry), 1);
          } else {
            await cache.unload(command.name);
            const entry = list.find(({ name }) => name === command.name);
            list = list.filter((other) => other !== entry);
            if (entry && entry.users > 0) leaving.push(entry);
          }
          expect(loaded()).toEqual([...list, ...leaving].map(({ name }) => name).sort());
          expect(cache.memoryBytes()).toBe(bytes());
          expect(bytes()).toBe(total());
          expect(bytes()).toBeLessThanOrEqual(LIMIT);
        }
      }),
      seeded(300),
    );
    expect([...seen].sort()).toEqual(["accepted", "engine_failed", "memory_full"]);
  });
});

it("modelCache stays within its limit when models load concurrently, in any order", async () => {
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.record({ name, fails: fc.boolean() }), { minLength: 2, maxLength: 12 }),
      async (scheduler, asked) => {
        const { open, using, bytes } = models();
        const load = scheduler.scheduleFunction(async (_: string, fails: boolean) => {
          if (fails) throw new BertEdgeError("engine_failed", "The test makes this load fail.");
        });
        let loads = 0;
        const cache = modelCache({
          limitBytes: LIMIT,
          async load(name, reserve) {
            await load("manifest", false);
            await reserve(SIZES[name as Name]);
            await load("weights", asked[loads++ % asked.length]?.fails ?? false);
            const model = open(name as Name);
            expect(bytes()).toBeLessThanOrEqual(LIMIT);
            return model;
          },
        });
        const work = scheduler.scheduleFunction(nothing);
        const uses = asked.map(({ name }) => refusalOf(using(cache, name, () => work())));
        await scheduler.waitIdle();
        for (const outcome of await Promise.all(uses)) outcomes.add(outcome);
        expect(cache.memoryBytes()).toBe(bytes());
        for (const name of names) await cache.unload(name);
        expect({ loaded: bytes(), counted: cache.memoryBytes() }).toEqual({ loaded: 0, counted: 0 });
      },
    ),
    seeded(300),
  );
  expect([...outcomes].sort()).toEqual(["accepted", "engine_failed", "memory_full"]);
});
