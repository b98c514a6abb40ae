import { describe, expect, it } from "vitest";
import { backgroundWork, fakeEngine, publishTiny, statesOf, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import { defaultLimits } from "./local-tier.ts";
import { modelHolder } from "./model-holder.ts";
import { regionService } from "./region-service.ts";
import { startDeadline } from "./routing/deadline.ts";

async function setUp() {
  const store = await tinyStore();
  const engine = fakeEngine({ target: "regional-cpu" });
  const clock = { now: 0 };
  const holder = modelHolder({ store, name: TINY.name, engine, now: () => clock.now });
  const work = backgroundWork();
  const service = regionService({ holder, limits: { ...defaultLimits, maxInputs: 2 } });
  const embed = (texts: string[], truncate = false) =>
    service.embed({ texts, truncate, model: undefined, deadline: startDeadline(undefined, () => 0) }, work.background);
  return { store, engine, clock, service, embed, ...work };
}

describe("regionService", () => {
  it("waits for its model and answers as the region", async () => {
    const { embed } = await setUp();
    expect(await embed(["to be", "a"])).toMatchObject({
      tier: "region",
      reason: "only-tier",
      tokens: 4 + 3,
      provider: "fake",
      // Its own target's cost, twice the base: 10 + 4, and 10 + 3.
      predictedMs: 27,
    });
  });

  it("cuts a text that is too long only when it may", async () => {
    const { embed } = await setUp();
    const long = "word ".repeat(TINY.maxTokens);
    await expect(embed([long])).rejects.toMatchObject({ code: "input_too_long" });
    expect(await embed([long], true)).toMatchObject({ tokens: TINY.maxTokens });
  });

  it("takes a text that just fits", async () => {
    const { embed } = await setUp();
    expect(await embed(["word ".repeat(TINY.maxTokens - 2)])).toMatchObject({ tokens: TINY.maxTokens });
  });

  it("counts what it computes, without what it waited for", async () => {
    const clock = { now: 50 };
    const engine = fakeEngine({
      target: "regional-cpu",
      onLoad: () => {
        clock.now += 400;
      },
      run: async (sequences) => {
        clock.now += 7;
        return sequences.map(statesOf);
      },
    });
    const holder = modelHolder({ store: await tinyStore(), name: TINY.name, engine });
    const service = regionService({ holder, limits: defaultLimits });
    const deadline = startDeadline("1000", () => clock.now);
    const answer = await service.embed({ texts: ["a"], truncate: false, model: TINY.name, deadline }, () => {});
    expect(answer.timings).toEqual({ compute: 7 });
    expect(deadline.remainingMs()).toBe(1_000 - 407);
  });

  it("keeps to its limits", async () => {
    const { embed, engine } = await setUp();
    await expect(embed(["a", "b", "c"])).rejects.toMatchObject({ code: "too_many_inputs" });
    expect(engine.sessions).toHaveLength(0);
  });

  it("looks for newer versions while it answers", async () => {
    const { embed, store, clock, settled } = await setUp();
    const { version } = await embed(["a"]);
    const newer = await publishTiny(store, "newer");
    clock.now += 60_000;
    expect(await embed(["a"])).toMatchObject({ version });
    await settled();
    expect(await embed(["a"])).toMatchObject({ version: newer });
  });

  it("is ready when its model is loaded", async () => {
    const { service, background, settled } = await setUp();
    expect(service.ready(background)).toBeUndefined();
    await settled();
    expect(service.ready(background)).toMatchObject({ model: TINY.name, provider: "fake" });
  });
});
