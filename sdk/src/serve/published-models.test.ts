import { describe, expect, it } from "vitest";
import { fakeEngine, publishTiny } from "#test/fixtures/tiny-model.ts";
import { memoryStore } from "../storage/memory.ts";
import { publishedModels } from "./published-models.ts";

const WEIGHTS = { one: "1".repeat(60), two: "2".repeat(40), three: "3".repeat(41) };
const LIMIT = 100;

async function setUp() {
  const store = memoryStore();
  for (const [name, weights] of Object.entries(WEIGHTS)) await publishTiny(store, weights, { name });
  const engine = fakeEngine();
  const models = publishedModels({ store, engine, limitBytes: LIMIT });
  const ask = (name: string) =>
    models.using(name, async ({ manifest, embed }) => {
      expect(await embed(["to be"])).toHaveLength(1);
      return manifest.name;
    });
  const there = () => engine.sessions.filter(({ releases }) => releases === 0).map(({ weights }) => weights);
  return { store, models, ask, there };
}

describe("publishedModels", () => {
  it("embeds with every model, and keeps the models loaded that fit", async () => {
    const { ask, there, models } = await setUp();
    expect(await Promise.all([ask("one"), ask("two")])).toEqual(["one", "two"]);
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

  it("loads the newest version of a model that was unloaded", async () => {
    const { store, models, ask, there } = await setUp();
    await ask("one");
    await publishTiny(store, "newer", { name: "one" });
    await ask("one");
    expect(there()).toEqual([WEIGHTS.one]);
    await models.unload("one");
    await ask("one");
    expect(there()).toEqual(["newer"]);
  });

  it("fails with the name of a model that is not in the store", async () => {
    const { ask } = await setUp();
    await expect(ask("other")).rejects.toMatchObject({ code: "model_not_published" });
  });
});
