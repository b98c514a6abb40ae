import { describe, expect, it, vi } from "vitest";
import { type EmbedQueryChanges, embedQuery } from "#test/fixtures/embed-query.ts";
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
import { BertEdgeError } from "../../artifact/error.ts";
import type { EmbedManifest } from "../../artifact/manifest.ts";
import { modelHolder } from "../../runtime/models/model-holder.ts";
import { sentenceVector } from "../../runtime/tasks/sentence-vector.ts";
import { memoryStore } from "../../storage/memory.ts";
import { defaultLimits } from "../limits.ts";
import type { Region } from "../region/region.ts";
import { connectRegion, type RegionTier } from "../region/region-tier.ts";
import { createRegionApp } from "../region-app.ts";
import { startDeadline } from "../routing/deadline.ts";
import { servedNames } from "../served-names.ts";
import { modelPool } from "./model-pool.ts";
import { taskService } from "./task-service.ts";

const log = errorLog();

/** Text of 4 tokens. Predictions: 1000 + 4 · 100 ms at the edge, and 10 + 4 · 1 ms of computation in the region. */
const TEXT = "to be";
const EDGE_MS = 1_400;
const REGION_COMPUTE_MS = 14;
const FROM_REGION = Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0);

const query = (changes?: EmbedQueryChanges) => embedQuery([TEXT], changes);

/** Makes a region that answers at once. It predicts its computation time plus 50 ms. */
function fakeRegion(changes: Partial<RegionTier> = {}) {
  return {
    keepMeasured: vi.fn(),
    predict: vi.fn<RegionTier["predict"]>((computeMs) => ({ ms: 50 + computeMs, spreadMs: 0, waitMs: 0 })),
    ask: vi.fn<RegionTier["ask"]>(async ({ inputs }, { model, version }) => ({
      outputs: inputs.map(() => FROM_REGION),
      tokens: 4,
      model,
      version: version ?? "ffffffffffff",
      provider: "cuda",
      timings: { region: 20 },
    })),
    ...changes,
  };
}
const overloaded = () => Promise.reject(new BertEdgeError("region_overloaded", "The region at x is overloaded."));
const failing = () => Promise.reject(new BertEdgeError("region_failed", "The region at x is down."));

async function setUp(
  region?: RegionTier,
  options: {
    cpuLimitMs?: number;
    now?: () => number;
    engine?: FakeEngineOptions;
    manifest?: Partial<EmbedManifest>;
  } = {},
) {
  const store = memoryStore();
  await publishTiny(store, undefined, options.manifest);
  const engine = fakeEngine(options.engine);
  const holder = modelHolder({ store, name: TINY.name, engine });
  const service = taskService({
    models: modelPool({ served: servedNames([TINY.name]), holder: () => holder }),
    tier: "edge",
    regions: region ? [{ connect: () => region } as unknown as Region] : [],
    limits: defaultLimits,
    cpuLimitMs: options.cpuLimitMs ?? 30_000,
    engine: { blocksThread: false },
    log: false as const,
    now: options.now ?? (() => 0),
  });
  const work = backgroundWork();
  const embed = (changes?: Parameters<typeof query>[0]) => service.answer(query(changes), work.background);
  const warm = async () => void (await holder.load(work.background));
  return { store, engine, holder, service, embed, warm, ...work };
}

describe("an edge on its own", () => {
  it("waits for its model and answers", async () => {
    const { embed, holder, background } = await setUp();
    const answer = await embed();
    const { tokenizer, version } = await holder.load(background);
    const { ids } = tokenizer.encode(TEXT, TINY.maxTokens);
    expect(answer).toEqual({
      result: [sentenceVector(hiddenStatesOf(ids), TINY.dimensions, { pooling: "mean", normalize: true })],
      tokens: 4,
      model: TINY.name,
      version,
      provider: "fake",
      tier: "edge",
      reason: "only-tier",
      predictedMs: EDGE_MS,
      timings: { queue: 0, compute: 0 },
      decision: { wait: 0, compute: EDGE_MS, spread: EDGE_MS / 4 },
    });
  });

  it("reports the time of its computation, without the wait for the rest of the model", async () => {
    const clock = { now: 0 };
    const { embed } = await setUp(undefined, {
      now: () => clock.now,
      engine: {
        ready: async () => {
          clock.now = Math.max(clock.now, 400);
        },
        run: async (sequences) => {
          clock.now += 7;
          return sequences.map(hiddenStatesOf);
        },
      },
    });
    const deadline = startDeadline(undefined, { now: () => clock.now });
    expect(await embed({ deadline })).toMatchObject({ timings: { compute: 7 } });
    expect(deadline.elapsedMs()).toBe(407);
  });

  it("answers even if it exceeds the budget", async () => {
    const { embed } = await setUp();
    expect(await embed({ budget: 1 })).toMatchObject({ tier: "edge", reason: "only-tier" });
  });

  it("fails when its model cannot be loaded", async () => {
    const { embed } = await setUp(undefined, {
      engine: {
        onLoad: () => {
          throw new BertEdgeError("engine_failed", "no memory");
        },
      },
    });
    await expect(embed()).rejects.toMatchObject({ code: "engine_failed" });
  });
});

describe("a cold edge on its own, whose model loads for longer than the budget", () => {
  it("answers late requests, but asks very late ones to come again", async () => {
    const clock = { now: 0 };
    const onLoad = () => {
      clock.now = 150;
    };
    const { embed } = await setUp(undefined, {
      now: () => clock.now,
      engine: { onLoad },
    });
    const late = startDeadline(100, { now: () => clock.now });
    const tooLate = startDeadline(10, { now: () => clock.now });
    const [answer, refusal] = await Promise.allSettled([embed({ deadline: late }), embed({ deadline: tooLate })]);
    expect(answer).toMatchObject({ status: "fulfilled", value: { tier: "edge", reason: "only-tier" } });
    expect(refusal).toMatchObject({ status: "rejected", reason: { code: "model_unavailable" } });
  });
});

describe("a warm edge with a region", () => {
  it.each([
    ["no-budget", {}],
    // The spread of the first prediction is a quarter of it, and three spreads count as certain.
    ["within-budget", { budget: 2_450 }],
  ])("answers itself, with reason %s", async (reason, changes) => {
    const region = fakeRegion();
    const { embed, warm } = await setUp(region);
    await warm();
    expect(await embed(changes)).toMatchObject({ tier: "edge", reason, predictedMs: EDGE_MS });
    expect(region.ask).not.toHaveBeenCalled();
  });

  it.each([
    ["edge-over-budget", 1_399, {}],
    ["over-budget", 1, {}],
    ["edge-cpu-limit", undefined, { cpuLimitMs: 1_399 }],
  ])("lets the region answer, with reason %s", async (reason, budget, options) => {
    const region = fakeRegion();
    const { embed, engine, warm, holder, background } = await setUp(region, options);
    await warm();
    expect(await embed({ ...(budget && { budget }) })).toEqual({
      result: [FROM_REGION],
      tokens: 4,
      model: TINY.name,
      version: (await holder.load(background)).version,
      provider: "cuda",
      tier: "region",
      reason,
      predictedMs: 50 + REGION_COMPUTE_MS,
      timings: { region: 20 },
      decision: {
        ...(budget !== undefined && { budget }),
        ...{ wait: 0, compute: EDGE_MS, spread: EDGE_MS / 4, region: 50 + REGION_COMPUTE_MS },
        ...(reason === "edge-cpu-limit" && { cpu: EDGE_MS, "cpu-limit": 1_399 }),
      },
    });
    expect(engine.sessions[0]?.runs).toBe(0);
  });

  it("passes the expected model, version, output lengths and computation time to the region", async () => {
    const region = fakeRegion();
    const { embed, warm, holder, background } = await setUp(region);
    await warm();
    await embed({ budget: 100 });
    const { version } = await holder.load(background);
    expect(region.ask).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ inputs: [TEXT] }),
      expect.objectContaining({
        ...{ model: TINY.name, version, lengths: [TINY.dimensions], norm: "one" },
        ...{ tokens: 4, computeMs: REGION_COMPUTE_MS },
      }),
      { signal: undefined, hedge: false },
    );
  });

  it.each([
    ["fails", failing],
    ["is overloaded", overloaded],
  ])("answers itself when the region %s, with reason region-down", async (_, embedding) => {
    const region = fakeRegion({ ask: embedding });
    const { embed, warm, engine } = await setUp(region);
    await warm();
    expect(await embed({ budget: 100 })).toMatchObject({
      tier: "edge",
      reason: "region-down",
      provider: "fake",
      predictedMs: EDGE_MS,
    });
    expect(engine.sessions[0]?.runs).toBe(1);
    expect(log).toHaveBeenCalled();
  });

  it("does not ask a region that is down", async () => {
    const region = fakeRegion({ predict: () => "down" });
    const { embed, warm } = await setUp(region);
    await warm();
    expect(await embed({ budget: 100 })).toMatchObject({ tier: "edge", reason: "region-down" });
    expect(region.ask).not.toHaveBeenCalled();
  });

  it("passes on the region's refusal of an invalid request", async () => {
    const refusal = new BertEdgeError("input_too_long", "Too long.");
    const { embed, warm, engine } = await setUp(fakeRegion({ ask: () => Promise.reject(refusal) }));
    await warm();
    await expect(embed({ budget: 100 })).rejects.toBe(refusal);
    expect(engine.sessions[0]?.runs).toBe(0);
  });

  it("keeps the region measured with every request, even when it answers itself", async () => {
    const region = fakeRegion();
    const { embed, warm, background, holder } = await setUp(region);
    await warm();
    await embed();
    const model = await holder.load(background);
    expect(region.keepMeasured).toHaveBeenCalledExactlyOnceWith(background, undefined, model);
  });

  it("refuses a text that is too long without asking the region", async () => {
    const region = fakeRegion();
    const { embed, warm } = await setUp(region);
    await warm();
    await expect(embed({ texts: ["word ".repeat(TINY.maxTokens)], budget: 1 })).rejects.toMatchObject({
      code: "input_too_long",
    });
    expect(region.ask).not.toHaveBeenCalled();
  });

  it("finishes an answer with the model that started it, even if a newer one was loaded meanwhile", async () => {
    const asked = latch();
    const region = fakeRegion({ ask: () => asked.promise.then(failing) });
    const store = await tinyStore();
    const engine = fakeEngine();
    const clock = { now: 0 };
    const holder = modelHolder({ store, name: TINY.name, engine, now: () => clock.now });
    const service = taskService({
      models: modelPool({ served: servedNames([TINY.name]), holder: () => holder }),
      tier: "edge",
      regions: [{ connect: () => region } as unknown as Region],
      limits: defaultLimits,
      cpuLimitMs: 30_000,
      engine: { blocksThread: false },
      log: false as const,
    });
    const { background } = backgroundWork();
    const old = (await holder.load(background)).version;
    const answer = service.answer(query({ budget: 100 }), background);

    await publishTiny(store, "newer");
    clock.now += 60_000;
    await waitFor(() => expect(holder.current(background)?.version).not.toBe(old));
    asked.resolve();
    expect(await answer).toMatchObject({ version: old, reason: "region-down" });
    await waitFor(() => expect(engine.sessions[0]?.releases).toBe(1));
  });
});

describe("a model that leaves prompts out of the pooling", () => {
  const manifest = { poolsPrompt: false, prompts: { query: "to find: " } } as const;
  // No tier is in time, so that the faster one is asked.
  const hurried = { budget: 1, promptName: "query" };

  /** Makes a region that may be another program: it is down for what only our own regions compute. */
  const foreign = () =>
    fakeRegion({ predict: vi.fn((_ms, { onlyOurs } = {}) => (onlyOurs ? "down" : { ms: 1, spreadMs: 0, waitMs: 0 })) });

  it.each(["warm", "cold"])(
    "sends no text with a prompt to a region that pools all tokens, when it is %s",
    async (state) => {
      const region = foreign();
      const { embed, warm } = await setUp(region, { manifest });
      if (state === "warm") await warm();
      expect(await embed(hurried)).toMatchObject({ tier: "edge" });
      expect(region.ask).not.toHaveBeenCalled();
    },
  );

  it("lets such a region answer texts without a prompt", async () => {
    const region = foreign();
    const { embed, warm } = await setUp(region, { manifest });
    await warm();
    expect(await embed({ budget: 1 })).toMatchObject({ tier: "region" });
  });

  it("tells its own region which tokens are pooled", async () => {
    const region = fakeRegion();
    const { embed, warm } = await setUp(region, { manifest });
    await warm();
    expect(await embed(hurried)).toMatchObject({ tier: "region" });
    expect(region.ask).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ sequences: [{ ids: expect.any(Int32Array), pooledFrom: expect.any(Number) }] }),
      expect.objectContaining({ onlyOurs: true }),
      expect.anything(),
    );
  });
});

describe("the vector size in a request", () => {
  const other = { dimensions: TINY.dimensions + 1, budget: 100 };

  it("is checked by a warm edge before it runs the model or asks the region", async () => {
    const region = fakeRegion();
    const { embed, warm, engine } = await setUp(region);
    await warm();
    await expect(embed(other)).rejects.toMatchObject({ code: "dimensions_unsupported" });
    expect(engine.sessions[0]?.runs).toBe(0);
    expect(region.ask).not.toHaveBeenCalled();
  });

  it("is checked by a cold edge as soon as the manifest is read, before it asks the region", async () => {
    const region = fakeRegion();
    const { embed } = await setUp(region, { engine: { onLoad: () => new Promise(() => {}) } });
    await expect(embed(other)).rejects.toMatchObject({ code: "dimensions_unsupported" });
    expect(region.ask).not.toHaveBeenCalled();
    expect(await embed({ dimensions: TINY.dimensions })).toMatchObject({ tier: "region", reason: "edge-cold" });
  });

  it("is checked by an edge without a region before it runs the model", async () => {
    const { embed, engine } = await setUp();
    await expect(embed(other)).rejects.toMatchObject({
      code: "dimensions_unsupported",
      message: `The model tiny returns vectors of up to ${TINY.dimensions} dimensions, not ${TINY.dimensions + 1}.`,
    });
    expect(engine.sessions[0]?.runs).toBe(0);
    expect(await embed({ dimensions: TINY.dimensions })).toMatchObject({ tier: "edge" });
  });
});

describe("a cold edge with a region", () => {
  it("lets the region answer while it loads in the background", async () => {
    const slow = latch();
    const region = fakeRegion();
    const { embed, service, holder, settled, background, size } = await setUp(region, {
      engine: { onLoad: () => slow.promise },
    });
    expect(await embed()).toMatchObject({ tier: "region", reason: "edge-cold", predictedMs: 50 });
    const { version } = await holder.opened(background);
    expect(region.ask).toHaveBeenCalledExactlyOnceWith(
      expect.anything(),
      expect.objectContaining({ model: TINY.name, version, lengths: [TINY.dimensions], computeMs: 0 }),
      { signal: undefined, hedge: false },
    );
    expect(size()).toBe(1);
    expect(service.ready(background)).toBeUndefined();

    slow.resolve();
    await settled();
    expect(await embed()).toMatchObject({ tier: "edge", reason: "no-budget" });
  });

  it.each([
    ["fails", fakeRegion({ ask: failing })],
    ["is down", fakeRegion({ predict: () => "down" })],
  ])("waits for its own model when the region %s, with reason region-down", async (_, region) => {
    const { embed, engine } = await setUp(region);
    expect(await embed({ budget: 100 })).toMatchObject({ tier: "edge", reason: "region-down", predictedMs: EDGE_MS });
    expect(engine.sessions).toHaveLength(1);
  });

  it("passes on the region's refusal of an invalid request without waiting for its own model", async () => {
    const refusal = new BertEdgeError("input_too_long", "Too long.");
    const { embed } = await setUp(fakeRegion({ ask: () => Promise.reject(refusal) }), {
      engine: { onLoad: () => new Promise(() => {}) },
    });
    await expect(embed()).rejects.toBe(refusal);
  });

  it("checks the request before it asks the region or loads the model", async () => {
    const region = fakeRegion();
    const { embed, size } = await setUp(region);
    await expect(embed({ texts: [" "] })).rejects.toMatchObject({ code: "input_empty" });
    await expect(embed({ texts: [] })).rejects.toMatchObject({ code: "input_empty" });
    await expect(embed({ texts: Array(2_049).fill("a") })).rejects.toMatchObject({ code: "too_many_inputs" });
    await expect(embed({ model: "other" })).rejects.toMatchObject({ code: "model_unknown" });
    expect(region.ask).not.toHaveBeenCalled();
    expect(region.keepMeasured).not.toHaveBeenCalled();
    expect(size()).toBe(0);
  });
});

describe("ready", () => {
  it("starts loading, keeps the region measured, and later names the loaded model", async () => {
    const region = fakeRegion();
    const { service, background, settled, holder } = await setUp(region);
    expect(service.ready(background)).toBeUndefined();
    expect(region.keepMeasured).toHaveBeenCalledOnce();
    await settled();
    const { version } = await holder.load(background);
    expect(service.ready(background)).toEqual({ model: TINY.name, version, provider: "fake" });
  });
});

describe("a region", () => {
  /** The region's latency fit is 10 ms per text and 1 ms per token. */
  async function region(clock = { now: 0 }) {
    const store = await tinyStore();
    const engine = fakeEngine({ target: "regional-cpu" });
    const holder = modelHolder({ store, name: TINY.name, engine, now: () => clock.now });
    const limits = { ...defaultLimits, maxInputs: 2 };
    const service = taskService({
      models: modelPool({ served: servedNames([TINY.name]), holder: () => holder }),
      tier: "region",
      regions: [],
      limits,
      cpuLimitMs: Number.POSITIVE_INFINITY,
      engine: { blocksThread: false },
      log: false as const,
    });
    const work = backgroundWork();
    const embed = (texts: string[], truncate = false) => service.answer(query({ texts, truncate }), work.background);
    return { store, engine, service, embed, ...work };
  }

  it("waits for its model and answers, with a prediction for its own target", async () => {
    const { embed } = await region();
    expect(await embed(["to be", "a"])).toMatchObject({
      tier: "region",
      reason: "only-tier",
      tokens: 4 + 3,
      provider: "fake",
      predictedMs: 2 * 10 + 4 + 3,
    });
  });

  it("refuses a text that is too long, or truncates it on request", async () => {
    const { embed, engine } = await region();
    const long = "word ".repeat(TINY.maxTokens);
    await expect(embed([long])).rejects.toMatchObject({ code: "input_too_long" });
    expect(engine.sessions[0]?.runs).toBe(0);
    expect(await embed([long], true)).toMatchObject({ tokens: TINY.maxTokens });
  });

  it("accepts a text that just fits", async () => {
    const { embed } = await region();
    expect(await embed(["word ".repeat(TINY.maxTokens - 2)])).toMatchObject({ tokens: TINY.maxTokens });
  });

  it("checks its limits before it loads the model", async () => {
    const { embed, engine } = await region();
    await expect(embed(["a", "b", "c"])).rejects.toMatchObject({ code: "too_many_inputs" });
    expect(engine.sessions).toHaveLength(0);
  });

  it("checks for newer versions while it answers", async () => {
    const clock = { now: 0 };
    const { embed, store, settled } = await region(clock);
    const { version } = await embed(["a"]);
    const newer = await publishTiny(store, "newer");
    clock.now += 60_000;
    expect(await embed(["a"])).toMatchObject({ version });
    await settled();
    expect(await embed(["a"])).toMatchObject({ version: newer });
  });
});

describe("an edge in front of a real region", () => {
  async function tiers(regionWeights: string) {
    const regionStore = await tinyStore();
    await publishTiny(regionStore, regionWeights);
    const regionApp = createRegionApp({
      models: regionStore,
      model: TINY.name,
      engine: fakeEngine({ target: "regional-cpu" }),
      keys: ["region-key"],
    });
    const region = connectRegion({
      url: "http://region.test",
      key: "region-key",
      fetch: (async (request: Request) => regionApp.fetch(request)) as typeof fetch,
    });
    const edge = await setUp(region);
    await edge.warm();
    return edge;
  }
  const budget = 1_300;

  it("gives bit-identical vectors on both tiers", async () => {
    const { embed } = await tiers("tiny");
    const texts = ["to be", "or not to be", "\ud800 é \0 [SEP]"];
    const here = await embed({ texts });
    const there = await embed({ texts, budget });
    expect([here.tier, there.tier]).toEqual(["edge", "region"]);
    expect(there).toMatchObject({ version: here.version, tokens: here.tokens, result: here.result });
  });

  it("answers itself when the region serves another version, and does not ask it again at once", async () => {
    const { embed } = await tiers("other weights");
    expect(await embed({ budget })).toMatchObject({ tier: "edge", reason: "region-down" });
    expect(log).toHaveBeenCalledWith(expect.stringContaining("the edge serves tiny@"));
    expect(await embed({ budget })).toMatchObject({ tier: "edge", reason: "region-down" });
    expect(log).toHaveBeenCalledOnce();
  });
});

describe("an engine that computes two calls side by side", () => {
  /** Makes a service that counts the calls which run at the same time. */
  async function setUpTwo() {
    const counts = { running: 0, most: 0 };
    const run = async (sequences: readonly Int32Array<ArrayBuffer>[]) => {
      counts.most = Math.max(counts.most, ++counts.running);
      await new Promise((resolve) => setTimeout(resolve));
      counts.running--;
      return sequences.map(hiddenStatesOf);
    };
    return { ...(await setUp(undefined, { engine: { parallel: 2, run } })), counts };
  }

  it("computes two requests at a time, and never more", async () => {
    const { service, background, counts } = await setUpTwo();
    const answers = await Promise.all(Array.from({ length: 5 }, () => service.answer(query(), background)));
    expect(counts.most).toBe(2);
    expect(answers.map(({ result }) => result)).toEqual(Array(5).fill(answers[0]?.result));
  });

  it("computes the texts of one request side by side, in order", async () => {
    const { service, background, counts } = await setUpTwo();
    const texts = ["a", "b", "c", "d", "e"];
    const { result: vectors } = await service.answer(query({ texts }), background);
    expect(counts.most).toBe(2);
    const alone = await Promise.all(texts.map((text) => service.answer(query({ texts: [text] }), background)));
    expect(vectors).toEqual(alone.flatMap((answer) => answer.result));
  });
});
