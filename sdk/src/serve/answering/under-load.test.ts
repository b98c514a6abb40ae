import { beforeEach, describe, expect, it, vi } from "vitest";
import { type EmbedQueryChanges, embedQuery } from "#test/fixtures/embed-query.ts";
import {
  backgroundWork,
  type FakeEngineOptions,
  fakeEngine,
  hiddenStatesOf,
  TINY,
  tinyStore,
} from "#test/fixtures/tiny-model.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { modelHolder } from "../../runtime/models/model-holder.ts";
import { defaultLimits } from "../limits.ts";
import { type Caller, callerWith } from "../queue/caller.ts";
import type { Region } from "../region/region.ts";
import type { RegionTier } from "../region/region-tier.ts";
import { startDeadline } from "../routing/deadline.ts";
import { servedNames } from "../served-names.ts";
import { modelPool } from "./model-pool.ts";
import { taskService } from "./task-service.ts";

/** Text of 4 tokens. The model's measurements predict 1,400 ms at the edge. */
const TEXT = "to be";
const EDGE_MS = 1_400;
const FROM_REGION = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);

const logged = vi.spyOn(console, "log").mockImplementation(() => {});
beforeEach(() => void logged.mockClear());
const lines = () => logged.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);

/** Makes an edge whose computations wait until the test ends them. Its clock never moves, as on deployed Workers. */
async function setUp({ regionMs, engine = {} }: { regionMs?: number; engine?: FakeEngineOptions } = {}) {
  const held: (() => void)[] = [];
  let isHolding = false;
  const run: FakeEngineOptions["run"] = async (sequences) => {
    if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
    return sequences.map(hiddenStatesOf);
  };
  const fake = fakeEngine({ run, ...engine });
  const holder = modelHolder({ store: await tinyStore(), name: TINY.name, engine: fake });
  const region: RegionTier = {
    predict: () => ({ ms: regionMs ?? 0, spreadMs: 0, waitMs: 0 }),
    keepMeasured: () => {},
    ask: vi.fn<RegionTier["ask"]>(async ({ inputs }, { model, version }) => ({
      ...{ outputs: inputs.map(() => FROM_REGION), tokens: 4, model, version, provider: "cuda" },
      timings: { region: 20 },
    })),
  };
  const service = taskService({
    ...{
      models: modelPool({ served: servedNames([TINY.name]), holder: () => holder }),
      engine: { blocksThread: true },
      tier: "edge",
      log: "unusual",
      now: () => 0,
    },
    regions: regionMs === undefined ? [] : [{ connect: () => region } as unknown as Region],
    limits: { ...defaultLimits, maxWaitMs: 5_000, maxBytesInFlight: 40_000 },
    cpuLimitMs: 30_000,
  });
  const { background, settled } = backgroundWork();
  const embed = (budget?: number, changes: EmbedQueryChanges = {}) =>
    service.answer(embedQuery([TEXT], { budget, ...changes }), background);
  await holder.load(background);
  const hold = () => {
    isHolding = true;
  };
  /** Ends all computations, now and later. */
  const end = () => {
    isHolding = false;
    for (const resolve of held.splice(0)) resolve();
  };
  /** Resolves when a computation has begun. */
  const begun = () => expect.poll(() => held.length).toBe(1);
  return { embed, hold, end, begun, service, background, settled, sessions: fake.sessions, region };
}

describe("an edge whose clock stands still during computation", () => {
  it("sends what its queue would make late to the region", async () => {
    const { embed, hold, end, begun } = await setUp({ regionMs: 60 });
    hold();
    const first = embed(4_000);
    await begun();
    // The first answer is predicted to take 1,400 ms, so a second one would need 2,800 ms here.
    expect(await embed(2_500)).toMatchObject({ tier: "region", reason: "edge-over-budget" });
    expect(await embed(3_000)).toMatchObject({ tier: "region" });
    end();
    expect(await first).toMatchObject({ tier: "edge", reason: "within-budget" });
    expect(await embed(2_500)).toMatchObject({ tier: "edge" });
  });

  it("lets the region answer requests without a budget, as soon as there is a queue", async () => {
    const { embed, hold, end, begun } = await setUp({ regionMs: 60 });
    hold();
    const first = embed();
    await begun();
    expect(await embed()).toMatchObject({ tier: "region", reason: "edge-busy" });
    end();
    expect(await first).toMatchObject({ tier: "edge", reason: "no-budget" });
  });

  it("refuses what nobody can answer in time, and says when to come again", async () => {
    const { embed, hold, end, begun } = await setUp();
    hold();
    const first = embed(4_000);
    await begun();
    await expect(embed(2_500)).rejects.toMatchObject({ code: "overloaded", retryAfterMs: expect.any(Number) });
    end();
    await first;
    expect(await embed(2_500)).toMatchObject({ tier: "edge" });
  });

  it("gives every refused request a time of its own to come again", async () => {
    const { embed, hold, end, begun } = await setUp();
    hold();
    const first = embed(4_000);
    await begun();
    const refused = await Promise.allSettled([embed(2_500), embed(2_500), embed(2_500)]);
    const pauses = refused.map((each) => (each as PromiseRejectedResult).reason.retryAfterMs as number);
    expect(pauses[1]).toBeGreaterThan(pauses[0] as number);
    expect(pauses[2]).toBeGreaterThan(pauses[1] as number);
    end();
    await first;
  });

  it("refuses a request before its texts are known when no text could be in time", async () => {
    const { service, embed, hold, end, begun, background } = await setUp();
    const call = (budgetMs: number) => ({ deadline: startDeadline(budgetMs, { now: () => 0 }) });
    hold();
    const first = embed(4_000);
    await begun();
    expect(() => service.admit(call(1_000), background)).toThrow(expect.objectContaining({ code: "overloaded" }));
    expect(lines().at(-1)).toMatchObject({ "bert-edge": "overloaded", budget: 1_000 });
    service.admit(call(4_000), background);
    end();
    await first;
    await expect.poll(() => service.queueMs()).toBe(0);
    service.admit(call(1), background);
  });

  it("measures the region again soon after it has refused a request", async () => {
    const { embed, hold, end, begun, region } = await setUp({ regionMs: 60_000 });
    const keepMeasured = vi.spyOn(region, "keepMeasured");
    hold();
    const first = embed(4_000);
    await begun();
    await expect(embed(2_500)).rejects.toMatchObject({ code: "overloaded" });
    const second = embed(9_000);
    expect(keepMeasured.mock.calls.map(([, maxAgeMs]) => maxAgeMs)).toEqual([undefined, undefined, 250]);
    end();
    await Promise.all([first, second]);
  });

  it("refuses requests without a budget only behind a long queue", async () => {
    const { service, embed, hold, end, begun } = await setUp();
    hold();
    const accepted = [embed()];
    await begun();
    for (let request = 0; request < 3; request++) accepted.push(embed());
    await expect.poll(() => service.queueMs()).toBeCloseTo(4 * EDGE_MS);
    await expect(embed()).rejects.toMatchObject({ code: "overloaded" });
    end();
    expect(await Promise.all(accepted)).toHaveLength(4);
  });

  it("never refuses a request while nobody waits, however small its budget", async () => {
    const { embed } = await setUp();
    expect(await embed(1)).toMatchObject({ tier: "edge", reason: "only-tier" });
  });

  it("learns its speed from clients, because its own clock shows nothing", async () => {
    const { embed } = await setUp();
    for (let request = 0; request < 200; request++) {
      const texts = 1 + 2 * (request % 2);
      const { predictedMs = 0 } = await embed(undefined, { texts: Array(texts).fill(TEXT) });
      // This machine needs a third of the predicted time, and the network 30 ms.
      const trueMs = (texts * EDGE_MS) / 3;
      await embed(undefined, { report: { predictedMs, measuredMs: 30 + trueMs } });
    }
    const { predictedMs = 0 } = await embed();
    expect(predictedMs).toBeGreaterThan(EDGE_MS / 8);
    expect(predictedMs).toBeLessThan(EDGE_MS / 2);
  });

  it.each([
    ["that nobody got", "web", (request: number) => (request % 2 ? 10 : 1_000)],
    ["that another key got", "other", (_: number, got: number) => got],
  ])("does not learn from reports about predictions %s", async (_, name, predictionOf) => {
    const { embed } = await setUp();
    for (let request = 0; request < 200; request++) {
      const texts = Array(1 + 2 * (request % 2)).fill(TEXT);
      const { predictedMs: got = 0 } = await embed(undefined, { caller: callerWith({ name: "web" }), texts });
      const predictedMs = predictionOf(request, got);
      await embed(undefined, { caller: callerWith({ name }), report: { predictedMs, measuredMs: 10 * predictedMs } });
    }
    expect((await embed()).predictedMs).toBe(EDGE_MS);
  });
});

describe("a request that both tiers are asked for", () => {
  /** Two calls of the engine, 2,800 ms together: 3,500 ms may not be enough, and the region needs 60 ms. */
  const texts = [TEXT, TEXT];
  const BUDGET_MS = 3_500;

  it("gets the region's answer while the edge computes, and then leaves the edge's queue", async () => {
    const { embed, hold, end, region } = await setUp({ regionMs: 60 });
    hold();
    const answer = await embed(BUDGET_MS, { texts });
    expect(answer).toMatchObject({ tier: "region", reason: "edge-over-budget", predictedMs: 60 });
    expect(answer.decision).toMatchObject({ hedge: true });
    expect(vi.mocked(region.ask).mock.calls[0]?.[2]?.signal?.aborted).toBe(true);
    end();
    await expect.poll(async () => (await embed(2_500)).tier).toBe("edge");
  });

  it("gets the edge's answer when the region is slower, and stops the region", async () => {
    const { embed, region } = await setUp({ regionMs: 60 });
    vi.mocked(region.ask).mockReturnValue(new Promise(() => {}));
    const answer = await embed(BUDGET_MS, { texts });
    expect(answer).toMatchObject({ tier: "edge", reason: "within-budget", decision: { hedge: true } });
    expect(vi.mocked(region.ask).mock.calls[0]?.[2]?.signal?.aborted).toBe(true);
  });

  it("is rare: without the right to extra load, the region answers alone", async () => {
    const { embed, settled } = await setUp({ regionMs: 60 });
    const hedged = [];
    for (let request = 0; request < 8; request++) {
      hedged.push("hedge" in (await embed(BUDGET_MS, { texts })).decision);
      // The slower tier stops when it notices that its answer is not needed.
      await settled();
    }
    expect(hedged.filter(Boolean)).toHaveLength(3);
    expect(hedged.slice(3)).toEqual([false, false, false, false, false]);
  });
});

describe("the memory of requests in flight", () => {
  it("is limited for a caller, who may have one large request, and leaves room for others", async () => {
    const { service, embed, hold, end, begun } = await setUp();
    const [web, batch] = ["web", "batch"].map((name) => callerWith({ name })) as [Caller, Caller];
    const held = (caller: Caller, texts: string[]) => {
      const hold = service.hold({ caller, trace: { requestId: caller.id } }, 0);
      return embed(undefined, { texts, truncate: true, caller, hold }).finally(hold.release);
    };
    hold();
    const large = held(batch, ["a".repeat(10_000)]);
    await begun();
    await expect(async () => held(batch, [TEXT])).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 1_000 });
    expect(lines().at(-1)).toMatchObject({ "bert-edge": "overloaded", requestId: "batch" });
    const other = held(web, [TEXT]);
    end();
    expect(await Promise.all([large, other])).toMatchObject([{ tier: "edge" }, { tier: "edge" }]);
    expect(await held(batch, [TEXT])).toMatchObject({ tier: "edge" });
    expect(service.bytesInFlight()).toBe(0);
  });
});

describe("a caller's flood", () => {
  it("neither has another caller's request refused, nor delays it by more than a call", async () => {
    const { service, embed, hold, end, begun } = await setUp();
    const ends: string[] = [];
    const ask = (name: string) =>
      embed(undefined, { caller: callerWith({ name }) }).then(() => {
        ends.push(name);
      });
    hold();
    const flood = Promise.allSettled(Array.from({ length: 20 }, () => ask("batch")));
    await begun();
    const other = ask("web");
    // It waits for its turn behind the computation that has begun. Of the flood, four are here: a fifth would wait too long.
    await expect.poll(() => service.queueMs()).toBeCloseTo(5 * EDGE_MS);
    end();
    await other;
    const refused = (await flood).filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(10);
    expect(ends.slice(0, 2)).toContain("web");
    expect(ends.length).toBe(21 - refused.length);
  });
});

describe("a caller who has gone", () => {
  it("costs no further computation, and does not hold up the next one", async () => {
    const { embed, hold, end, begun, sessions } = await setUp();
    hold();
    const caller = new AbortController();
    const gone = embed(undefined, { texts: Array(20).fill(TEXT), signal: caller.signal });
    await begun();
    caller.abort();
    const next = embed();
    end();
    await expect(gone).rejects.toThrow("aborted");
    expect(await next).toMatchObject({ tier: "edge" });
    expect(sessions[0]?.runs).toBe(2);
  });
});

describe("pins", () => {
  it("keep texts at the edge, whatever the budget", async () => {
    const { embed, region } = await setUp({ regionMs: 1 });
    expect(await embed(1, { pin: "edge" })).toMatchObject({ tier: "edge", reason: "pinned" });
    expect(region.ask).not.toHaveBeenCalled();
  });

  it("send texts to the region, or fail", async () => {
    const { embed } = await setUp({ regionMs: 60 });
    expect(await embed(undefined, { pin: "region" })).toMatchObject({ tier: "region", reason: "pinned" });
    const alone = await setUp();
    await expect(alone.embed(undefined, { pin: "region" })).rejects.toMatchObject({ code: "tier_missing" });
  });

  it("pass on the pause that an overloaded region asks for", async () => {
    const { embed, region } = await setUp({ regionMs: 60 });
    const overloaded = new BertEdgeError("region_overloaded", "Busy.", { retryAfterMs: 321 });
    vi.mocked(region.ask).mockRejectedValue(overloaded);
    vi.spyOn(console, "error").mockImplementationOnce(() => {});
    await expect(embed(undefined, { pin: "region" })).rejects.toMatchObject({
      ...{ code: "overloaded", retryAfterMs: 321 },
      basis: { pinned: true, region: 60, "region-refused": true },
    });
  });
});

describe("a precision", () => {
  it("that the edge lacks is left to the region, or refused", async () => {
    const { embed } = await setUp({ regionMs: 60 });
    expect(await embed(undefined, { precision: "fp16" })).toMatchObject({ tier: "region", reason: "precision" });
    expect(await embed(undefined, { precision: "int8" })).toMatchObject({ tier: "edge" });
    const alone = await setUp();
    await expect(alone.embed(undefined, { precision: "fp16" })).rejects.toMatchObject({
      code: "precision_unavailable",
    });
  });
});

describe("the log", () => {
  it("has one line for an answer of the region and for a refusal, and none for an ordinary answer", async () => {
    const { embed, hold, end, begun } = await setUp({ regionMs: 60 });
    await embed();
    expect(lines()).toEqual([]);
    await embed(1_000, { trace: { requestId: "r-1" } });
    expect(lines()).toEqual([
      expect.objectContaining({ "bert-edge": "region", reason: "edge-over-budget", budget: 1_000, requestId: "r-1" }),
    ]);
    hold();
    const first = embed(4_000);
    await begun();
    await embed(2_000, { pin: "edge" }).catch(() => {});
    expect(lines().at(-1)).toMatchObject({ "bert-edge": "overloaded", budget: 2_000, texts: 1 });
    end();
    await first;
  });

  it("has a line for an answer of the edge that is expected to be late", async () => {
    const { embed } = await setUp({ regionMs: 2_000 });
    expect(await embed(1_000)).toMatchObject({ tier: "edge", reason: "over-budget" });
    expect(lines()).toMatchObject([{ "bert-edge": "edge", reason: "over-budget", budget: 1_000 }]);
  });
});
