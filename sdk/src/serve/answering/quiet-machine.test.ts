import { describe, expect, it } from "vitest";
import { coldFactor } from "#test/fixtures/cold-engine.ts";
import { embedQuery } from "#test/fixtures/embed-query.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { backgroundWork, fakeEngine, hiddenStatesOf, publishTiny, TINY } from "#test/fixtures/tiny-model.ts";
import { modelHolder } from "../../runtime/models/model-holder.ts";
import { memoryStore } from "../../storage/memory.ts";
import { defaultLimits } from "../limits.ts";
import type { Region } from "../region/region.ts";
import { regionEstimate } from "../region/region-estimate.ts";
import type { RegionTier } from "../region/region-tier.ts";
import { startDeadline } from "../routing/deadline.ts";
import { servedNames } from "../served-names.ts";
import { modelPool } from "./model-pool.ts";
import { taskService } from "./task-service.ts";

/** A text, and its tokens. */
const [TEXT, TOKENS] = [Array(14).fill("be").join(" "), 16];
/** Time of the text in the region, relative to its time on the machine that measured the model. */
const IN_REGION = 0.6;
/** Time on the network, there and back, and to connect, in ms. */
const [NETWORK_MS, CONNECT_MS, UNUSED_MS] = [8, 80, 5_000];
/** This machine is that much slower than the one that measured the model, and its times vary by that share. */
const [SLOWNESS, NOISE] = [1.3, 0.08];
const [PAUSE_MS, PROBE_MS] = [2_000, 30_000];
const REQUESTS = 20;

interface Options {
  /** Time of the text on the machine that measured the model, in ms. */
  readonly measuredMs: number;
  readonly cpuLimitMs?: number;
  /** Whether the clock stands still during computation, as on deployed Workers. */
  readonly stands?: boolean;
}

/** Starts a service with the production queue, estimates and decision. The engine, the network and the clock are simulated. */
async function setUp({ measuredMs, cpuLimitMs = 30_000, stands = false }: Options) {
  const random = randomNumbers(1);
  const noise = () => 1 + NOISE * (2 * random() - 1);
  const clock = { now: 1_000, hiddenMs: 0 };
  const machine = { slowness: SLOWNESS, doneMs: 0 };
  const now = () => clock.now;
  const fit = { base: 0, perToken: measuredMs / TOKENS, perSquare: 0 };
  const fake = fakeEngine({
    async run(sequences) {
      for (const { length } of sequences) {
        const ms = fit.perToken * length;
        const tookMs = ms * machine.slowness * coldFactor(machine.doneMs) * noise();
        if (stands) clock.hiddenMs += tookMs;
        else clock.now += tookMs;
        machine.doneMs += ms;
      }
      return sequences.map(hiddenStatesOf);
    },
  });
  const store = memoryStore();
  const measurements = {
    edge: { latency: fit },
    "regional-cpu": { latency: { ...fit, perToken: IN_REGION * fit.perToken } },
  };
  await publishTiny(store, "weights", {}, measurements);
  const estimate = regionEstimate({ priorMs: 50, now });
  let usedAt = Number.NEGATIVE_INFINITY;
  /** Spends the time of a fetch, and learns from it. */
  function spendFetch(computeMs: number): void {
    const start = clock.now;
    const computedMs = computeMs * noise();
    clock.now += NETWORK_MS + (start - usedAt > UNUSED_MS ? CONNECT_MS : 0) + computedMs;
    usedAt = clock.now;
    estimate.observe({ start, end: clock.now, totalMs: computedMs, computedMs, computeMs, waitMs: 0, busyMs: 0 });
  }
  const region: RegionTier = {
    predict: estimate.predict,
    keepMeasured(background, maxAgeMs = PROBE_MS) {
      if (clock.now - usedAt > maxAgeMs) background(Promise.resolve().then(() => spendFetch(0)));
    },
    async ask({ inputs }, { model, version, computeMs = 0 }) {
      spendFetch(computeMs);
      const outputs = inputs.map(() => Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0));
      return { outputs, tokens: TOKENS, model, version, provider: "cpu", timings: { region: 0 } };
    },
  };
  const engine = { blocksThread: true, compilesAsItRuns: true };
  const holder = modelHolder({ store, name: TINY.name, engine: fake, now });
  const service = taskService({
    models: modelPool({ served: servedNames([TINY.name]), holder: () => holder }),
    tier: "edge",
    regions: [{ connect: () => region } as unknown as Region],
    limits: defaultLimits,
    ...{ cpuLimitMs, engine, now, log: false },
  });
  const { background, settled } = backgroundWork();
  await holder.load(background);

  async function ask(budget?: number) {
    const deadline = startDeadline(budget, { now, arrival: service.arrival(now()) });
    const { tier } = await service.answer({ ...embedQuery([TEXT]), deadline }, background);
    await settled();
    clock.now += clock.hiddenMs;
    clock.hiddenMs = 0;
    return tier;
  }

  /** Sends the texts, and counts the answers of the edge among the last 18. */
  async function edgeAnswers(times: number): Promise<number> {
    const budget = times * measuredMs * SLOWNESS;
    const tiers: string[] = [];
    for (let i = 0; i < REQUESTS; i++) {
      clock.now += PAUSE_MS;
      tiers.push(await ask(budget));
    }
    return tiers.slice(2).filter((tier) => tier === "edge").length;
  }

  return { clock, machine, store, measurements, ask, edgeAnswers };
}

describe.each([2, 9, 28])("on a quiet machine, a text of %d ms", (measuredMs) => {
  it.each([
    ["after a fresh start", {}],
    ["where the clock stands still during computation", { stands: true }],
  ])("stays at the edge %s, with a budget in which the edge answers", async (_, options) => {
    for (const [times, atLeast] of [
      [3, 17],
      [1.5, 16],
    ] as const) {
      const { edgeAnswers } = await setUp({ measuredMs, ...options });
      expect(await edgeAnswers(times)).toBeGreaterThanOrEqual(atLeast);
    }
  });

  it("stays there after ten minutes of silence", async () => {
    const { edgeAnswers, clock } = await setUp({ measuredMs });
    await edgeAnswers(3);
    clock.now += 600_000;
    expect(await edgeAnswers(1.5)).toBeGreaterThanOrEqual(16);
  });

  it("comes back after a burst in which the machine was slow", async () => {
    const { edgeAnswers, machine, ask } = await setUp({ measuredMs });
    machine.slowness = 4 * SLOWNESS;
    for (let i = 0; i < 40; i++) await ask();
    machine.slowness = SLOWNESS;
    expect(await edgeAnswers(1.5)).toBeGreaterThanOrEqual(16);
  });

  it("stays there after a new version is published", async () => {
    const { edgeAnswers, clock, store, measurements } = await setUp({ measuredMs });
    await edgeAnswers(3);
    await publishTiny(store, "other weights", {}, measurements);
    clock.now += 60_000;
    expect(await edgeAnswers(1.5)).toBeGreaterThanOrEqual(16);
  });

  it("comes back to the edge although each request may take only 10 ms of CPU time", async () => {
    if (measuredMs > 10) return;
    const { edgeAnswers } = await setUp({ measuredMs, cpuLimitMs: 10 });
    await edgeAnswers(3);
    await edgeAnswers(3);
    expect(await edgeAnswers(3)).toBeGreaterThanOrEqual(17);
  });
});

it("asks a region that is faster when nobody can keep the budget", async () => {
  const { edgeAnswers } = await setUp({ measuredMs: 28 });
  expect(await edgeAnswers(0.25)).toBe(0);
});

it("asks the region when the machine has become three times as slow, and the edge when it is fast again", async () => {
  const { edgeAnswers, machine } = await setUp({ measuredMs: 28 });
  await edgeAnswers(1.5);
  machine.slowness = 3 * SLOWNESS;
  expect(await edgeAnswers(1.5)).toBeLessThan(4);
  machine.slowness = SLOWNESS;
  // An estimate that was right is measured again after 16 s.
  for (let i = 0; i < 2; i++) await edgeAnswers(1.5);
  expect(await edgeAnswers(1.5)).toBeGreaterThanOrEqual(16);
});
