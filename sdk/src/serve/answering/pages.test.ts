import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type EmbedQueryChanges, embedQuery } from "#test/fixtures/embed-query.ts";
import { errorLog } from "#test/fixtures/error-log.ts";
import { backgroundWork, type FakeEngineOptions, fakeEngine, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { modelHolder } from "../../runtime/models/model-holder.ts";
import { defaultLimits } from "../limits.ts";
import type { Region } from "../region/region.ts";
import type { RegionTier } from "../region/region-tier.ts";
import { startDeadline } from "../routing/deadline.ts";
import { servedNames } from "../served-names.ts";
import { modelPool } from "./model-pool.ts";
import { taskService } from "./task-service.ts";

errorLog();

/** Predictions for a text of 4 tokens: 1000 + 4 · 100 ms at the edge, and 50 + 10 + 4 · 1 ms until the region's answer. */
const [TEXT, EDGE_MS, REGION_MS] = ["to be", 1_400, 64];
/** Expected time of a read, before the first one. */
const PRIOR_MS = 30;

type Ask = RegionTier["ask"];
const fromRegion: Ask = async ({ inputs }, { model, version }) => ({
  outputs: inputs.map(() => Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0)),
  ...{ tokens: 4, model, version: version ?? "ffffffffffff", provider: "cuda", timings: {} },
});
const noRegion: Ask = () => Promise.reject(new BertEdgeError("region_failed", "The region at x is down."));
const unreadable = () => Promise.reject(new BertEdgeError("storage_unavailable", "The store did not answer."));

/** A warm edge whose texts need `reads` pages until `ready` has been called. */
async function setUp(
  reads: number,
  { ready = async () => {}, ask, regionMs = 50, ...engine }: FakeEngineOptions & { ask?: Ask; regionMs?: number } = {},
) {
  const clock = { now: 0 };
  let absent = reads;
  const region = {
    keepMeasured: vi.fn(),
    predict: (computeMs: number) => ({ ms: regionMs + computeMs, spreadMs: 0, waitMs: 0 }),
    ask: vi.fn<Ask>(ask),
  };
  const holder = modelHolder({
    store: await tinyStore(),
    name: TINY.name,
    engine: fakeEngine({
      pageReads: () => absent,
      async ready() {
        await ready();
        absent = 0;
      },
      ...engine,
    }),
  });
  const service = taskService({
    models: modelPool({ served: servedNames([TINY.name]), holder: () => holder }),
    tier: "edge",
    regions: ask ? [{ connect: () => region } as unknown as Region] : [],
    limits: defaultLimits,
    cpuLimitMs: 30_000,
    engine: { blocksThread: false },
    log: false as const,
    now: () => clock.now,
  });
  const { background } = backgroundWork();
  await holder.load(background);
  const embed = (changes?: EmbedQueryChanges) => service.answer(embedQuery([TEXT], changes), background);
  const forget = () => {
    absent = reads;
  };
  return { embed, clock, region, forget };
}

describe("pages of the vocabulary", () => {
  it("are part of the prediction, which learns their time", async () => {
    const { embed, clock, forget } = await setUp(7, {
      ready: async () => {
        clock.now += 10;
      },
    });
    // Seven reads are two waves of up to six at once.
    expect(await embed()).toMatchObject({
      ...{ tier: "edge", predictedMs: 2 * PRIOR_MS + EDGE_MS, decision: { pages: 2 * PRIOR_MS, compute: EDGE_MS } },
    });
    expect((await embed()).decision).not.toHaveProperty("pages");
    forget();
    expect((await embed()).decision).toMatchObject({ pages: 10 });
  });

  it("send a request to a region that is in time", async () => {
    const { embed } = await setUp(6, { ask: fromRegion });
    expect(await embed({ budget: EDGE_MS + PRIOR_MS - 1 })).toMatchObject({
      ...{ tier: "region", reason: "edge-over-budget", decision: { pages: PRIOR_MS } },
    });
  });

  it("are read beside the rest of the model while that arrives", async () => {
    const ready = vi.fn(async () => {});
    const { embed, clock, forget } = await setUp(6, { ready, complete: () => new Promise(() => {}) });
    ready.mockImplementation(async () => {
      clock.now += 500;
    });
    await embed();
    expect(ready).toHaveBeenCalled();
    // The time of the rest of the model is not the time of a read.
    forget();
    expect((await embed()).decision).toMatchObject({ pages: PRIOR_MS });
  });

  it.each([0, 6])(
    "of which %i are read while the model arrives make a caller whose budget is over ask again",
    async (reads) => {
      const { embed, clock } = await setUp(reads, {
        complete: () => new Promise(() => {}),
        ready: async () => {
          clock.now += 5_000;
        },
      });
      const deadline = startDeadline(50, { now: () => clock.now });
      await expect(embed({ deadline })).rejects.toMatchObject({
        code: "model_unavailable",
        hint: "Send the request again. The model is loaded now.",
      });
    },
  );

  it("do not send a request to a region that would be late", async () => {
    const { embed, region } = await setUp(1, { ask: fromRegion, regionMs: 9_000 });
    expect(await embed({ budget: 3_000 })).toMatchObject({ tier: "edge", reason: "within-budget" });
    expect(await embed()).toMatchObject({ tier: "edge", reason: "no-budget" });
    expect(region.ask).not.toHaveBeenCalled();
  });

  it("do not make an edge without a queue refuse what it answers late", async () => {
    const { embed } = await setUp(1);
    expect(await embed({ budget: EDGE_MS })).toMatchObject({ tier: "edge", reason: "only-tier" });
  });

  it("that could not be read are expected to take as long again", async () => {
    const clocked = await setUp(1, {
      ready: async () => {
        clocked.clock.now += 700;
        throw new BertEdgeError("storage_unavailable", "The store did not answer.");
      },
      ask: fromRegion,
    });
    await clocked.embed();
    expect(await clocked.embed()).toMatchObject({ decision: { pages: 700 } });
  });

  it.each([
    ["are refused beyond the limit", undefined, "too_many_page_reads"],
    ["are refused beyond the limit for requests that are pinned to the edge", fromRegion, "too_many_page_reads"],
    ["beyond the limit, while the region fails,", noRegion, "overloaded"],
  ])("%s", async (name, ask, code) => {
    const ready = vi.fn(async () => {});
    const { embed } = await setUp(33, { ready, ...(ask && { ask }) });
    await expect(embed({ pin: name.includes("pinned") ? "edge" : undefined })).rejects.toMatchObject({ code });
    expect(ready).not.toHaveBeenCalled();
  });

  it("send a request to the region beyond the limit", async () => {
    const { embed } = await setUp(33, { ask: fromRegion });
    expect(await embed()).toMatchObject({
      ...{ tier: "region", reason: "edge-pages", decision: { "page-reads": 33, "page-limit": 32 } },
    });
  });

  it("that cannot be read fail the request, or send it to the region", async () => {
    const alone = await setUp(1, { ready: unreadable });
    await expect(alone.embed()).rejects.toMatchObject({ code: "storage_unavailable" });
    const helped = await setUp(1, { ready: unreadable, ask: fromRegion });
    expect(await helped.embed()).toMatchObject({ tier: "region", reason: "edge-pages" });
    const both = await setUp(1, { ready: unreadable, ask: noRegion });
    await expect(both.embed()).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  it("that do not arrive send the request to the region while that can still be in time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { embed, region } = await setUp(1, { ready: () => new Promise(() => {}), ask: fromRegion });
    const answer = embed({ budget: 10_000 });
    await vi.advanceTimersByTimeAsync(10_000 - REGION_MS - 1);
    expect(region.ask).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toMatchObject({ tier: "region", reason: "edge-pages" });
  });

  it("of requests that come together do not let more of them in than fit the queue", async () => {
    const { embed } = await setUp(1, { run: () => new Promise(() => {}) });
    const limit = Math.floor(defaultLimits.maxWaitMs / EDGE_MS) + 1;
    let refused = 0;
    for (let request = 0; request < limit + 3; request++) embed().catch(() => refused++);
    await expect.poll(() => refused).toBe(3);
  });
});
