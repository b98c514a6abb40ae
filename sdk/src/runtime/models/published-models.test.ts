import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { type FakeEngineOptions, fakeEngine, latch, publishTiny } from "#test/fixtures/tiny-model.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { memoryStore } from "../../storage/memory.ts";
import { publishedModels } from "./published-models.ts";

const WEIGHTS = { one: "1".repeat(60), two: "2".repeat(40), three: "3".repeat(41), more: "4".repeat(101) };
type Name = keyof typeof WEIGHTS;
const names = Object.keys(WEIGHTS) as Name[];
const LIMIT = 100;

const log = errorLog();
afterEach(() => expect(log).not.toHaveBeenCalled());

async function publishAll() {
  const store = memoryStore();
  for (const name of names) await publishTiny(store, WEIGHTS[name], { name });
  return store;
}

async function setUp(options: FakeEngineOptions = {}, published = publishAll()) {
  const store = await published;
  const fake = fakeEngine(options);
  /** Bytes by which models have grown, by their weights. */
  const grown: Record<string, number> = {};
  const engine: typeof fake = {
    ...fake,
    async load(files) {
      const session = (await fake.load(files)) as (typeof fake.sessions)[number];
      return { ...session, memoryBytes: () => session.weights.length + (grown[session.weights] ?? 0) };
    },
  };
  const models = publishedModels({ store, engine, limitBytes: LIMIT });
  const ask = (name: string) =>
    models.using(name, async ({ manifest, embed }) => {
      expect((await embed(["to be"])).embeddings).toHaveLength(1);
      return manifest.name;
    });
  /** Uses a model until the test calls `end`. */
  async function begin(name: Name) {
    const { promise: ended, resolve: end } = latch();
    const { promise: begun, resolve } = latch();
    const work = () => {
      resolve();
      return ended;
    };
    const outcome = refusalOf(models.using(name, work));
    await Promise.race([begun, outcome]);
    return { end, outcome };
  }
  const there = () => engine.sessions.filter(({ releases }) => releases === 0).map(({ weights }) => weights);
  return { store, sessions: engine.sessions, models, ask, begin, there, grown };
}

describe("publishedModels", () => {
  it("embeds with every model, loads each once, and keeps the models loaded that fit", async () => {
    const { ask, there, models, sessions } = await setUp();
    expect(await Promise.all([ask("one"), ask("two"), ask("one")])).toEqual(["one", "two", "one"]);
    expect(sessions).toHaveLength(2);
    // The two loads may end in any order.
    expect(there().toSorted()).toEqual([WEIGHTS.one, WEIGHTS.two]);
    expect(models.memoryBytes()).toBe(LIMIT);
    await ask("two");
    expect(await ask("three")).toBe("three");
    expect(there().toSorted()).toEqual([WEIGHTS.two, WEIGHTS.three]);
  });

  it("makes room for the memory that was measured during prepare", async () => {
    const { store, ask, there } = await setUp();
    await ask("one");
    const measured = { peak: LIMIT + 1, limit: LIMIT, fits: false };
    await publishTiny(store, "small", { name: "greedy" }, { edge: { memory: measured } });
    await expect(ask("greedy")).rejects.toMatchObject({
      code: "memory_full",
      message: expect.stringContaining(`greedy needs ${LIMIT + 1} bytes`),
    });
    expect(there()).toEqual([WEIGHTS.one]);
  });

  it("refuses a model at once that does not fit beside the models in use, and keeps all others", async () => {
    const { ask, begin, there, sessions } = await setUp();
    const { end, outcome } = await begin("one");
    await ask("two");
    await expect(ask("three")).rejects.toMatchObject({
      code: "memory_full",
      message: "The model three needs 41 bytes, but other models are in use and the limit is 100 bytes.",
    });
    expect(there()).toEqual([WEIGHTS.one, WEIGHTS.two]);
    await ask("one");
    expect(sessions).toHaveLength(2);
    end();
    expect(await outcome).toBe("accepted");
    await ask("two");
    await ask("three");
    expect(there()).toEqual([WEIGHTS.two, WEIGHTS.three]);
    expect(sessions).toHaveLength(3);
  });

  it("unloads other models when one has grown, or the grown one if it exceeds the limit alone", async () => {
    const { ask, begin, there, grown, models } = await setUp();
    await ask("one");
    const grow = async (bytes: number) => {
      const { end, outcome } = await begin("two");
      grown[WEIGHTS.two] = bytes;
      end();
      await outcome;
    };
    await grow(1);
    expect(there()).toEqual([WEIGHTS.two]);
    await grow(LIMIT);
    expect({ there: there(), bytes: models.memoryBytes() }).toEqual({ there: [], bytes: 0 });
  });

  it("waits until a model is complete, and releases it when that fails", async () => {
    const { promise: complete, reject } = latch();
    complete.catch(() => {});
    const { promise: loaded, resolve: load } = latch();
    const { models, there } = await setUp({
      complete() {
        load();
        return complete;
      },
    });
    const work = vi.fn(async () => {});
    const used = models.using("one", work);
    await loaded;
    reject(new Error("connection lost"));
    await expect(used).rejects.toThrow("connection lost");
    expect(work).not.toHaveBeenCalled();
    expect({ there: there(), bytes: models.memoryBytes() }).toEqual({ there: [], bytes: 0 });
  });

  it("fails for all callers of a failed load, and loads again for later callers", async () => {
    let fails = true;
    const { ask, there, models } = await setUp({
      onLoad() {
        if (fails) throw new Error("the store is down");
      },
    });
    const outcomes = await Promise.allSettled([ask("one"), ask("one")]);
    expect(outcomes).toMatchObject([{ reason: { cause: { message: "the store is down" } } }, { status: "rejected" }]);
    expect(models.memoryBytes()).toBe(0);
    fails = false;
    await ask("one");
    expect(there()).toEqual([WEIGHTS.one]);
  });

  it("unloads a model on request after its last user, and loads the newest version for new callers", async () => {
    const { store, models, ask, begin, there } = await setUp();
    await ask("two");
    await publishTiny(store, "newer", { name: "two" });
    await ask("two");
    expect(there()).toEqual([WEIGHTS.two]);
    const { end, outcome } = await begin("two");
    await models.unload("two");
    await models.unload("never loaded");
    await ask("two");
    expect({ there: there(), bytes: models.memoryBytes() }).toEqual({ there: [WEIGHTS.two, "newer"], bytes: 45 });
    end();
    expect(await outcome).toBe("accepted");
    expect(there()).toEqual(["newer"]);
    await models.unload("two");
    expect({ there: there(), bytes: models.memoryBytes() }).toEqual({ there: [], bytes: 0 });
  });

  it("fails with the name of a model that is not in the store", async () => {
    const { ask } = await setUp();
    await expect(ask("other")).rejects.toMatchObject({ code: "model_not_published" });
  });
});

const name = fc.constantFrom(...names);
const commands = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ begin: name, fails: fc.nat(9).map((n) => n === 0) }) },
    { weight: 5, arbitrary: fc.record({ end: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ unload: name }) },
  ),
  { maxLength: 30 },
);

it("publishedModels behaves like a simple list of models in any sequence of uses, failures and unloads", async () => {
  const seen = new Set<string>();
  const store = publishAll();
  await fc.assert(
    fc.asyncProperty(commands, async (commands) => {
      let fails = false;
      const onLoad = () => {
        if (fails) throw new BertEdgeError("engine_failed", "The test makes this load fail.");
      };
      const { models, begin, there } = await setUp({ onLoad }, store);
      interface Expected {
        readonly name: Name;
        users: number;
      }
      let list: Expected[] = [];
      const leaving = new Set<Expected>();
      const running: { readonly entry: Expected; readonly end: () => void; readonly outcome: Promise<string> }[] = [];
      const bytes = (entries: readonly Expected[]) =>
        [...entries, ...leaving].reduce((sum, { name }) => sum + WEIGHTS[name].length, 0);

      /** Returns the list without the models that make room for a new one; undefined if there is not enough room. */
      const withRoom = (name: Name): Expected[] | undefined => {
        const kept = [...list];
        while (bytes(kept) + WEIGHTS[name].length > LIMIT) {
          const unneeded = kept.findIndex(({ users }) => users === 0);
          if (unneeded < 0) return undefined;
          kept.splice(unneeded, 1);
        }
        return kept;
      };

      for (const command of commands) {
        if ("begin" in command) {
          fails = command.fails;
          const known = list.find(({ name }) => name === command.begin);
          const kept = known ? list : withRoom(command.begin);
          const expected = !kept ? "memory_full" : fails && !known ? "engine_failed" : "accepted";
          // Models are unloaded before the load, even if the load then fails.
          list = kept ?? list;
          const { end, outcome } = await begin(command.begin);
          seen.add(expected);
          if (expected === "accepted") {
            const entry = known ?? { name: command.begin, users: 0 };
            entry.users++;
            list = [...list.filter((other) => other !== entry), entry];
            running.push({ entry, end, outcome });
          } else expect(await outcome).toBe(expected);
        } else if ("end" in command) {
          const [ended] = running.splice(command.end % Math.max(1, running.length), 1);
          if (!ended) continue;
          ended.end();
          expect(await ended.outcome).toBe("accepted");
          if (--ended.entry.users === 0) leaving.delete(ended.entry);
        } else {
          await models.unload(command.unload);
          const entry = list.find(({ name }) => name === command.unload);
          list = list.filter((other) => other !== entry);
          if (entry && entry.users > 0) leaving.add(entry);
        }
        const expected = [...list, ...leaving].map(({ name }) => WEIGHTS[name]);
        expect(there().toSorted()).toEqual(expected.toSorted());
        expect(models.memoryBytes()).toBe(bytes(list));
        expect(bytes(list)).toBeLessThanOrEqual(LIMIT);
      }
    }),
    seeded(40),
  );
  expect([...seen].sort()).toEqual(["accepted", "engine_failed", "memory_full"]);
});

it("publishedModels stays within its limit when models load at the same time", async () => {
  const random = randomNumbers(1);
  const { models, ask, there } = await setUp({
    onLoad() {
      expect(models.memoryBytes()).toBeLessThanOrEqual(LIMIT);
      if (random() < 0.2) throw new BertEdgeError("engine_failed", "The test makes this load fail.");
    },
  });
  const outcomes = new Set<string>();
  for (let round = 0; round < 30; round++) {
    const asked = Array.from({ length: 5 }, () => names[Math.floor(random() * names.length)] as Name);
    for (const outcome of await Promise.all(asked.map((name) => refusalOf(ask(name))))) outcomes.add(outcome);
    expect(models.memoryBytes()).toBe(there().join("").length);
    expect(models.memoryBytes()).toBeLessThanOrEqual(LIMIT);
  }
  for (const name of names) await models.unload(name);
  expect({ there: there(), bytes: models.memoryBytes() }).toEqual({ there: [], bytes: 0 });
  expect([...outcomes].sort()).toEqual(["accepted", "engine_failed", "memory_full"]);
});
