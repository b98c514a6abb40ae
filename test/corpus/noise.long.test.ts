import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { drawEncoder } from "../fixtures/random-encoder/draw.ts";
import { addNoise, type Noise, noise } from "../fixtures/random-encoder/noise.ts";
import { type EncoderPlan, encoderPlan, expectedCounts } from "../fixtures/random-encoder/plan.ts";
import { encoderBatches } from "../fixtures/random-encoder/run.ts";
import { seeded } from "../fixtures/seeded.ts";
import { runGraph } from "../oracles/run-graph.ts";
import { fusedCounts, largestOutputDifference } from "../oracles/run-model.ts";

/**
 * Hidden states are normalized, so their magnitude is about 1. Another order of summation over three layers changes
 * them by 1e-5 at most.
 */
const TOLERANCE = 1e-4;

/** Number of random graphs. For a long run: `NOISE_RUNS=10000 npx vitest run test/corpus/noise.long.test.ts`. */
const RUNS = Number(process.env["NOISE_RUNS"] ?? 60);

/** Time limit. One graph takes about 30 ms on an idle machine. */
const TIMEOUT_MS = 60_000 + 1_000 * RUNS;

const noisy = (plan: EncoderPlan, all: readonly Noise[]): Graph => {
  const sketch = drawEncoder(plan);
  addNoise(sketch, all);
  return sketch.graph;
};

/** Returns the largest difference between the outputs of two graphs for the same batches. */
async function difference(found: Graph, wanted: Graph): Promise<number> {
  const feeds = encoderBatches(wanted, 1);
  const [ours, theirs] = [await runGraph(found, feeds), await runGraph(wanted, feeds)];
  return Math.max(...theirs.map((outputs, i) => largestOutputDifference(ours[i] ?? {}, outputs)));
}

describe("an encoder of BERT's sub-layers, each in a random form,", () => {
  it("is fused completely, and computes the same", { timeout: TIMEOUT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(encoderPlan, async (plan) => {
        const { graph } = drawEncoder(plan);
        await fuseGraph(graph);
        expect(fusedCounts(graph.nodes)).toEqual(expectedCounts(plan));
        expect(await difference(graph, drawEncoder(plan).graph)).toBeLessThan(TOLERANCE);
      }),
      seeded(RUNS),
    );
  });

  it("is fused completely with inserted operators that change nothing", { timeout: TIMEOUT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(encoderPlan, noise, async (plan, all) => {
        const original = drawEncoder(plan).graph;
        // Check that the inserted operators change no results. Otherwise, the comparison below would not test the
        // optimizer.
        expect(await difference(noisy(plan, all), original)).toBeLessThan(TOLERANCE);
        const graph = noisy(plan, all);
        await fuseGraph(graph);
        expect(fusedCounts(graph.nodes)).toEqual(expectedCounts(plan));
        expect(await difference(graph, original)).toBeLessThan(TOLERANCE);
      }),
      seeded(RUNS),
    );
  });
});
