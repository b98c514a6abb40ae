import { describe, expect, it } from "vitest";
import { TINY } from "#test/fixtures/tiny-model.ts";
import { ownTexts } from "./own-texts.ts";
import { planOf } from "./plan.ts";
import { turns } from "./queue/turns.ts";

/** A model of which a token takes 0.1 ms on the machine that measured it. `slowness` is that of this machine. */
function setUp({ cpuLimitMs = 30_000, slowness = 1, compilesAsItRuns = false, stands = false } = {}) {
  const clock = { now: 1_000 };
  const machine = { slowness };
  const now = () => clock.now;
  const lane = turns({ engine: { blocksThread: true, compilesAsItRuns }, now });
  const lengths: number[] = [];
  const model = {
    batches: (texts: readonly unknown[]) => texts.map((_, index) => [index]),
    parallel: 1,
    target: "edge",
    measurements: { edge: { latency: { base: 0, perToken: 0.1, perSquare: 0 } } },
    manifest: { ...TINY, maxTokens: 256 },
    async run([sequence]: readonly { readonly length: number }[]) {
      const length = sequence?.length ?? 0;
      lengths.push(length);
      if (!stands) clock.now += 0.1 * length * machine.slowness;
      return { outputs: [], computeMs: 0 };
    },
  } as unknown as Parameters<ReturnType<typeof ownTexts>["warm"]>[0];
  /** Computes a text of a request. */
  async function request(tokens: number) {
    const sequences = [new Int32Array(tokens)];
    const plan = planOf(model, sequences, lane.speed);
    await lane.using({ ...plan, dueAt: undefined }, {}, ({ turn }) =>
      turn(plan.measuredMs, () => model.run(sequences)),
    );
    lengths.pop();
  }
  const predictedMs = () => lane.speed.predict(10, 1).ms;
  return { clock, machine, lane, lengths, model, own: ownTexts({ lane, cpuLimitMs, now }), request, predictedMs };
}

describe("warm", () => {
  it("computes short texts until the engine is warm", async () => {
    const { own, model, lane, lengths } = setUp({ compilesAsItRuns: true });
    await own.warm(model, 0);
    expect(lane.speed.isWarm()).toBe(true);
    expect(lengths.length).toBeGreaterThan(3);
    expect(lengths.length).toBeLessThan(12);
    // 8 ms each.
    expect(new Set(lengths)).toEqual(new Set([80]));
    await own.warm(model, 0);
    expect(lengths.length).toBeLessThan(12);
  });

  it("computes nothing for an engine that does not compile as it runs", async () => {
    const { own, model, lengths } = setUp();
    await own.warm(model, 0);
    expect(lengths).toEqual([]);
  });

  it.each([
    ["that the platform allows", 10, 0],
    ["that the request has left", 1_000, 490],
    ["if none is left", 10, 6],
  ])("uses no more than half of the CPU time %s", async (_, cpuLimitMs, spentMs) => {
    const { own, model, lane, lengths } = setUp({ compilesAsItRuns: true, cpuLimitMs });
    const leftMs = cpuLimitMs / 2 - spentMs;
    const { ms } = lane.speed.predict(leftMs, 0);
    await own.warm(model, spentMs);
    const usedMs = 0.1 * lengths.reduce((sum, length) => sum + length, 0);
    expect(usedMs * (ms / leftMs || 0)).toBeLessThanOrEqual(Math.max(0, leftMs) * 1.5);
    expect(usedMs > 0).toBe(leftMs > 0);
    expect(lane.speed.isWarm()).toBe(false);
  });

  it("warms an engine in many requests if each of them may take little CPU time", async () => {
    const { own, model, lane } = setUp({ compilesAsItRuns: true, cpuLimitMs: 10 });
    for (let request = 0; request < 40; request++) await own.warm(model, 0);
    expect(lane.speed.isWarm()).toBe(true);
  });

  it("stops when a request comes", async () => {
    const { own, model, lane, lengths } = setUp({ compilesAsItRuns: true });
    const run = model.run;
    const held = Promise.withResolvers<void>();
    let waiting: Promise<unknown> = Promise.resolve();
    model.run = (...given) => {
      const compute = { ms: 10, spreadMs: 0 };
      const work = { dueAt: undefined, compute, loadMs: 10, measuredMs: 10, calls: [0], parallel: 1 };
      waiting = lane.using(work, {}, () => held.promise);
      return run(...given);
    };
    await own.warm(model, 0);
    expect(lengths).toHaveLength(1);
    held.resolve();
    await waiting;
  });
});

describe("measureAgain", () => {
  it("finds out that a machine which was slow is fast", async () => {
    const { own, model, machine, request, predictedMs, clock } = setUp({ slowness: 4 });
    for (let i = 0; i < 10; i++) await request(100);
    expect(predictedMs()).toBeGreaterThan(38);
    machine.slowness = 1;
    for (let i = 0; i < 3; i++) {
      clock.now += 2_000 * 2 ** i;
      await own.measureAgain(model);
    }
    expect(predictedMs()).toBeLessThan(12);
  });

  it("computes one text if the estimate is right and certain, and waits longer each time", async () => {
    const { own, model, request, lengths, clock } = setUp();
    for (let i = 0; i < 20; i++) await request(100);
    for (let second = 0; second < 100; second++) {
      clock.now += 1_000;
      await own.measureAgain(model);
    }
    // After 1, 2, 4, 8 and then every 16 s without a computation.
    expect(lengths.length).toBeGreaterThanOrEqual(8);
    expect(lengths.length).toBeLessThan(20);
    clock.now += 16_000;
    await request(100);
    const before = lengths.length;
    clock.now += 1_000;
    await own.measureAgain(model);
    expect(lengths.length).toBeGreaterThan(before);
  });

  it("computes nothing soon after a computation", async () => {
    const { own, model, request, lengths, clock } = setUp();
    await request(100);
    clock.now += 500;
    await own.measureAgain(model);
    expect(lengths).toEqual([]);
  });

  it("computes nothing where the clock shows nothing", async () => {
    const { own, model, request, lengths, clock } = setUp({ stands: true });
    await request(100);
    clock.now += 10_000;
    await own.measureAgain(model);
    expect(lengths).toEqual([]);
  });

  it("keeps within the CPU time that the platform allows", async () => {
    const { own, model, machine, request, lengths, clock } = setUp({ cpuLimitMs: 10 });
    machine.slowness = 4;
    for (let i = 0; i < 10; i++) await request(100);
    machine.slowness = 1;
    clock.now += 300_000;
    await own.measureAgain(model);
    expect(lengths.length).toBeGreaterThan(0);
    expect(0.1 * lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(5);
  });
});
