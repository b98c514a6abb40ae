import { describe, expect, it } from "vitest";
import { coldFactor } from "#test/fixtures/cold-engine.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import { anyone } from "../queue/caller.ts";
import { turnScheduler } from "../queue/scheduler.ts";
import { ownTexts } from "./own-texts.ts";
import { planOf } from "./plan.ts";

/** A model of which a token takes 0.1 ms on the machine that measured it. `slowness` is that of this machine. */
function setUp({ cpuLimitMs = 30_000, slowness = 1, compilesAsItRuns = false, stands = false } = {}) {
  const clock = { now: 1_000 };
  const machine = { slowness, doneMs: 0, usedMs: 0, requests: 0 };
  const now = () => clock.now;
  const scheduler = turnScheduler({ engine: { blocksThread: true, compilesAsItRuns }, now });
  const lengths: number[] = [];
  const model = {
    batches: (texts: readonly unknown[]) => texts.map((_, index) => [index]),
    parallel: 1,
    target: "edge",
    measurements: { edge: { latency: { base: 0, perToken: 0.1, perSquare: 0 } } },
    manifest: { ...TINY, maxTokens: 256 },
    ready: async () => {},
    async run([sequence]: readonly { readonly length: number }[]) {
      const ms = 0.1 * (sequence?.length ?? 0);
      const tookMs = ms * machine.slowness * (compilesAsItRuns ? coldFactor(machine.doneMs) : 1);
      lengths.push(sequence?.length ?? 0);
      machine.doneMs += ms;
      machine.usedMs += tookMs;
      if (!stands) clock.now += tookMs;
      return { outputs: [], computeMs: 0 };
    },
  } as unknown as Parameters<ReturnType<typeof ownTexts>>[0];
  /** Computes a text of a request. */
  async function request(tokens: number) {
    const sequences = [new Int32Array(tokens)];
    const plan = planOf(model, sequences, scheduler.speed);
    await scheduler.using({ ...plan, caller: anyone, dueAt: undefined }, {}, ({ turn }) =>
      turn(plan.measuredMs, () => model.run(sequences)),
    );
    lengths.pop();
  }
  const predictedMs = () => scheduler.speed.predict(10, 1).ms;
  const compute = ownTexts({ scheduler, cpuLimitMs, isBusy: () => machine.requests > 0, now });
  const warm = (spentMs = 0) => compute(model, { spentMs, wasTooSlow: false });
  const measureAgain = () => compute(model, { spentMs: 0, wasTooSlow: true });
  return { clock, machine, scheduler, lengths, model, warm, measureAgain, request, predictedMs };
}

describe("after a request, a deployment whose engine is cold", () => {
  it("computes texts of about 8 ms on this machine until the engine is warm", async () => {
    const { warm, scheduler, lengths, machine } = setUp({ compilesAsItRuns: true });
    await warm();
    expect(scheduler.speed.isWarm()).toBe(true);
    expect(machine.usedMs / lengths.length).toBeLessThan(10);
    const before = lengths.length;
    await warm();
    expect(lengths).toHaveLength(before);
  });

  it("computes nothing if the engine does not compile as it runs", async () => {
    const { warm, lengths } = setUp();
    await warm();
    expect(lengths).toEqual([]);
  });

  it.each([
    ["that the platform allows", 10, 0, false],
    ["that the platform allows, where the clock stands still", 10, 0, true],
    ["that the platform allows, with what the request has used", 100, 45, false],
    ["if none is left", 10, 6, false],
  ])("uses no more than half of the CPU time %s", async (_, cpuLimitMs, spentMs, stands) => {
    for (const which of ["warm", "measureAgain"] as const) {
      const { [which]: compute, scheduler, machine } = setUp({ compilesAsItRuns: true, cpuLimitMs, stands });
      const leftMs = cpuLimitMs / 2 - (which === "warm" ? spentMs : 0);
      await compute(spentMs);
      // The engine is a little slower at first than predicted.
      expect(machine.usedMs).toBeLessThanOrEqual(1.1 * Math.max(0, leftMs));
      expect(machine.usedMs > 0).toBe(leftMs > 0);
      if (cpuLimitMs === 10) expect(scheduler.speed.isWarm()).toBe(false);
    }
  });

  it("warms its engine in many requests if each of them may take little CPU time", async () => {
    const { warm, scheduler } = setUp({ compilesAsItRuns: true, cpuLimitMs: 10 });
    for (let request = 0; request < 60; request++) await warm();
    expect(scheduler.speed.isWarm()).toBe(true);
  });

  it("computes nothing while a request is under way, and stops when one comes", async () => {
    const { warm, machine, lengths, model } = setUp({ compilesAsItRuns: true });
    machine.requests = 1;
    await warm();
    expect(lengths).toEqual([]);
    machine.requests = 0;
    const run = model.run;
    model.run = (sequences) => {
      machine.requests = 1;
      return run(sequences);
    };
    await warm();
    expect(lengths).toHaveLength(1);
  });

  it("makes no request count as one that waits", async () => {
    const { warm, scheduler } = setUp({ compilesAsItRuns: true });
    const waits = new Set<number>();
    let isDone = false;
    const done = warm().then(() => {
      isDone = true;
    });
    while (!isDone) {
      waits.add(
        scheduler.outlook({ caller: anyone, dueAt: undefined, engineMs: 10, loadMs: 10, calls: [0], parallel: 1 })
          .waitMs,
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    expect([...waits]).toEqual([0]);
  });

  it("lets the answer leave first", async () => {
    const { warm, lengths } = setUp({ compilesAsItRuns: true });
    const done = warm();
    await Promise.resolve();
    expect(lengths).toEqual([]);
    await done;
    expect(lengths).not.toEqual([]);
  });

  it("ignores the errors of its own texts", async () => {
    const { warm, model } = setUp({ compilesAsItRuns: true });
    model.run = () => Promise.reject(new Error("The engine failed."));
    await expect(warm()).resolves.toBeUndefined();
  });
});

describe("after a request that was lost because this deployment seemed too slow, it", () => {
  it("finds out that it has become fast", async () => {
    const { measureAgain, machine, request, predictedMs, clock } = setUp({ slowness: 4 });
    for (let i = 0; i < 10; i++) await request(100);
    expect(predictedMs()).toBeGreaterThan(38);
    machine.slowness = 1;
    for (let i = 0; i < 3; i++) {
      clock.now += 2_000 * 2 ** i;
      await measureAgain();
    }
    expect(predictedMs()).toBeLessThan(12);
  });

  it("computes one text if the estimate is right and certain, and waits longer each time", async () => {
    const { measureAgain, request, lengths, clock } = setUp();
    for (let i = 0; i < 20; i++) await request(100);
    for (let second = 0; second < 100; second++) {
      clock.now += 1_000;
      await measureAgain();
    }
    // After 1, 2, 4, 8 and then every 16 s without a computation.
    expect(lengths.length).toBeGreaterThanOrEqual(8);
    expect(lengths.length).toBeLessThan(20);
    clock.now += 16_000;
    await request(100);
    const before = lengths.length;
    clock.now += 1_000;
    await measureAgain();
    expect(lengths.length).toBeGreaterThan(before);
  });

  it("computes nothing soon after a computation", async () => {
    const { measureAgain, request, lengths, clock } = setUp();
    await request(100);
    clock.now += 500;
    await measureAgain();
    expect(lengths).toEqual([]);
  });

  it("computes at most one text where the clock shows nothing", async () => {
    const { measureAgain, lengths, clock } = setUp({ stands: true });
    for (let i = 0; i < 3; i++) {
      clock.now += 30_000;
      await measureAgain();
    }
    expect(lengths).toHaveLength(1);
  });
});
