import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { backgroundWork, fakeEngine, latch, publishTiny } from "#test/fixtures/tiny-model.ts";
import { pointerKey } from "../../artifact/keys.ts";
import { nextTurn } from "../../artifact/next-turn.ts";
import { modelHolder } from "../../runtime/models/model-holder.ts";
import { memoryStore } from "../../storage/memory.ts";
import { servedNames } from "../served-names.ts";
import { modelPool } from "./model-pool.ts";

errorLog();

const BYTES = 40;
/** Room for two models. */
const LIMIT = 100;
const NAMES = ["a", "b", "c"];

/**
 * Makes a pool of three models of 40 bytes.
 *
 * @param until resolves when an object can be read
 */
async function setUp(limitBytes = LIMIT, until: (key: string) => Promise<void> | undefined = () => undefined) {
  const memory = memoryStore();
  const store: typeof memory = {
    ...memory,
    async open(key, signal) {
      await until(key);
      return memory.open(key, signal);
    },
  };
  const versions: string[] = [];
  for (const name of NAMES) versions.push(await publishTiny(store, "x".repeat(BYTES), { name }));
  const engine = fakeEngine();
  const models = modelPool({
    served: servedNames(NAMES),
    limitBytes,
    timeoutMs: 200,
    holder: (name, version, reserve) => modelHolder({ store, name, version, engine, reserve }),
  });
  const { background, settled } = backgroundWork();
  let peak = 0;
  async function use<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
    const holder = models.holderOf(name);
    let model = await holder.load(background);
    while (!holder.holds(model)) model = await holder.load(background);
    return holder.using(model, async () => {
      peak = Math.max(peak, models.bytes());
      return work();
    });
  }
  const loaded = () => engine.sessions.filter(({ releases }) => releases === 0).length;
  return { store, engine, models, use, loaded, versions, settled, peak: () => peak };
}

describe("a pool of models", () => {
  it("gives the first model to requests that name none, and refuses models that it does not serve", async () => {
    const { models } = await setUp();
    expect(models.holderOf()).toBe(models.holderOf("a"));
    expect(models.holderOf().name).toBe("a");
    for (const name of ["d", "", "a@b@c", "a/b/c"]) {
      expect(() => models.holderOf(name)).toThrow(expect.objectContaining({ code: "model_unknown" }));
    }
  });

  it.each(["", "current", "../../../etc/x", "00000000000", "0123456789AB", "000000000000/x"])(
    "refuses %j, which no version is called: it would become part of an object's key",
    async (version) => {
      const { models } = await setUp();
      expect(() => models.holderOf(`a@${version}`)).toThrow(expect.objectContaining({ code: "model_unknown" }));
    },
  );

  it("forgets versions that were pinned and never loaded, but none that is loaded", async () => {
    const { models, use, versions } = await setUp();
    const pinned = `a@${versions[0]}`;
    await use(pinned, async () => {});
    const loaded = models.holderOf(pinned);
    const first = models.holderOf("b@000000000000");
    for (let i = 1; i <= 1_000; i++) models.holderOf(`b@${i.toString(16).padStart(12, "0")}`);
    expect(models.holderOf("b@000000000000")).not.toBe(first);
    expect(models.holderOf(pinned)).toBe(loaded);
    expect(models.holderOf("a")).toBe(models.holderOf());
    expect(models.bytes()).toBe(BYTES);
  });

  it("unloads the model that has not been used for the longest time", async () => {
    const { use, loaded, engine } = await setUp();
    const work = async () => {};
    for (const name of ["a", "b", "a", "c"]) await use(name, work);
    expect(loaded()).toBe(2);
    expect(engine.sessions[1]?.releases).toBe(1);
    await use("a", work);
    expect(engine.sessions).toHaveLength(3);
  });

  it("lets requests on a model finish before it is unloaded", async () => {
    const { use, engine, models } = await setUp(BYTES);
    const { promise: opened, resolve: open } = latch();
    const first = use("a", () => opened);
    await expect.poll(() => engine.sessions.length).toBe(1);
    const second = use("b", async () => "b");
    // The load of b has asked for room.
    await expect.poll(() => models.holderOf("a").version()).toBeUndefined();
    expect(engine.sessions).toHaveLength(1);
    open();
    await first;
    expect(await second).toBe("b");
    expect(engine.sessions[0]?.releases).toBe(1);
  });

  it("does not wait for a model that has not asked for room yet", async () => {
    const { promise: readable, resolve: read } = latch();
    const { use } = await setUp(BYTES, (key) => (key === pointerKey("b") ? readable : undefined));
    const b = use("b", async () => "b");
    await use("c", async () => {});
    expect(await use("a", async () => "a")).toBe("a");
    read();
    expect(await b).toBe("b");
  });

  it("refuses a load when models in use leave too little room for too long", async () => {
    const { use } = await setUp(BYTES);
    const { promise: opened, resolve: open } = latch();
    const { promise: begun, resolve: begin } = latch();
    const first = use("a", () => {
      begin();
      return opened;
    });
    await begun;
    await expect(use("b", async () => {})).rejects.toMatchObject({ code: "memory_full" });
    open();
    await first;
    await expect(use("b", async () => "b")).resolves.toBe("b");
  });

  it("refuses a model that is larger than the limit", async () => {
    const { use } = await setUp(BYTES - 1);
    await expect(use("a", async () => {})).rejects.toMatchObject({ code: "memory_full" });
  });

  it("loads a pinned version beside the current one, and never replaces it", async () => {
    const { use, store, versions, models } = await setUp();
    const newer = await publishTiny(store, "y".repeat(BYTES), { name: "a" });
    const version = async (name: string) => {
      const holder = models.holderOf(name);
      return (await holder.load(() => {})).version;
    };
    expect(await version("a")).toBe(newer);
    expect(await version(`a@${versions[0]}`)).toBe(versions[0]);
    await expect(use("a@000000000000", async () => {})).rejects.toMatchObject({ code: "model_unknown" });
  });

  it("has the current version only once, whether a request pins it or not", async () => {
    const { use, engine, models, versions, loaded } = await setUp(Number.POSITIVE_INFINITY);
    const pinned = `a@${versions[0]}`;
    await use("a", async () => {});
    await use(pinned, async () => {});
    expect(models.holderOf(pinned)).toBe(models.holderOf("a"));
    expect(engine.sessions).toHaveLength(1);

    await use(`b@${versions[1]}`, async () => {});
    await use("b", async () => {});
    await use(`b@${versions[1]}`, async () => {});
    await expect.poll(loaded).toBe(2);
    expect(models.bytes()).toBe(2 * BYTES);
  });

  it("keeps two versions that are pinned, apart from the current one, without any limit of memory", async () => {
    const { use, store, loaded, models, versions } = await setUp(Number.POSITIVE_INFINITY);
    const pinned = [versions[0]];
    for (const letter of "uvwxyz") pinned.push(await publishTiny(store, letter.repeat(BYTES), { name: "a" }));
    await use("a", async () => {});
    for (const version of pinned) {
      await use(`a@${version}`, async () => {});
      expect(loaded()).toBeLessThanOrEqual(3);
    }
    expect(models.bytes()).toBe(3 * BYTES);
    await use("b", async () => {});
    expect(loaded()).toBe(4);
  });

  it("answers requests across three models, never exceeds the limit, and loses nothing", async () => {
    const { use, engine, peak, models } = await setUp();
    const random = randomNumbers(1);
    const rounds = runs(25, 100);
    let answered = 0;
    for (let round = 0; round < rounds; round++) {
      const names = Array.from({ length: 3 }, () => NAMES[Math.floor(random() * 3)] as string);
      await Promise.all(
        names.map((name) =>
          use(name, async () => {
            for (let turn = 3 * random(); turn > 0; turn--) await nextTurn();
            answered++;
          }),
        ),
      );
    }
    expect(answered).toBe(3 * rounds);
    expect(engine.sessions.length).toBeGreaterThan(rounds / 2);
    expect(peak()).toBeLessThanOrEqual(LIMIT);
    expect(models.bytes()).toBeLessThanOrEqual(LIMIT);
  });
});
