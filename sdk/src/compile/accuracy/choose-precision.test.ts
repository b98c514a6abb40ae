import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import type { BertEdgeError } from "../../artifact/error.ts";
import type { Parity } from "../../artifact/manifest.ts";
import { Graph } from "../graph/graph.ts";
import { type Candidate, type ChoiceContext, choosePrecision, type Measures } from "./choose-precision.ts";
import { INT8_LIMIT } from "./limits.ts";
import { parity } from "./parity.ts";

const figures = (meanCosine: number): Parity => ({ meanCosine, minCosine: meanCosine, maxAbsDiff: 0, cases: 21 });

/**
 * Returns a candidate and its measures. Quantizing a layer lowers the cosine by the layer's number in `costs`. The name
 * of a quantized graph lists the layers that stay in the higher precision.
 */
function costing(costs: Readonly<Record<string, number>>) {
  const layers = Object.keys(costs);
  const graphs: string[] = [];
  const quantize = async (kept: ReadonlySet<string> = new Set()) => new Graph([...kept].sort().join());
  const measures: Measures = {
    async parity({ name }) {
      graphs.push(name);
      return figures(
        1 - layers.reduce((sum, layer) => sum + (name.split(",").includes(layer) ? 0 : (costs[layer] ?? 0)), 0),
      );
    },
  };
  const candidate: Candidate = { label: "int8", quantize, layers };
  return { candidate, measures, graphs };
}

const choose = (candidates: readonly Candidate[], measures: Measures, context?: ChoiceContext) =>
  choosePrecision("It", candidates, INT8_LIMIT, measures, context);
const refusalBy = async (candidates: readonly Candidate[], measures: Measures) =>
  choose(candidates, measures).then(
    () => expect.unreachable("it was accepted"),
    (error: BertEdgeError) => error,
  );

describe("choosePrecision", () => {
  it("chooses the first candidate that reaches the limit, and measures no other", async () => {
    const { candidate, measures, graphs } = costing({ a: 0.001 });
    const choice = await choose([candidate, { ...candidate, label: "slower" }], measures);
    expect(choice).toMatchObject({ label: "int8", kept: [], measured: { parity: { meanCosine: 0.999 } } });
    expect(graphs).toEqual([""]);
  });

  it("prefers a slower candidate to keeping layers", async () => {
    const bad = costing({ a: 0.1, b: 0 }).candidate;
    const good: Candidate = { label: "slower", quantize: async () => new Graph("a,b"), layers: ["a", "b"] };
    const choice = await choose([bad, good], costing({ a: 0.1, b: 0 }).measures);
    expect(choice).toMatchObject({ label: "slower", kept: [] });
  });

  it("keeps the worst 1, 2, 4, … layers, as few as reach the limit", async () => {
    const costs = fc.array(fc.double({ min: 0, max: 0.02, noNaN: true }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(costs, async (all) => {
        const { candidate, measures, graphs } = costing(Object.fromEntries(all.map((cost, i) => [`layer${i}`, cost])));
        const worst = all.toSorted((a, b) => b - a);
        const rest = (count: number) => worst.slice(count).reduce((sum, cost) => sum + cost, 0);
        const counts = [0, 1, 2, 4, 8].filter((count) => count === 0 || count <= all.length / 2);
        const expected = counts.find((count) => rest(count) <= 1 - INT8_LIMIT.meanCosine - 1e-9);
        const near = counts.some((count) => Math.abs(rest(count) - 0.01) <= 1e-9);
        const found = await choose([candidate], measures).then(
          ({ kept }) => kept.length,
          () => undefined,
        );
        if (!near) expect(found).toBe(expected);
        expect(graphs.length).toBeLessThanOrEqual(1 + all.length + counts.length);
      }),
      seeded(200),
    );
  });

  it("reports progress while it looks for the layers at fault, and only then", async () => {
    const progress: [string, number | undefined][] = [];
    const context: ChoiceContext = { progress: (message, fraction) => progress.push([message, fraction]) };
    const { candidate, measures } = costing({ a: 0.05, b: 0 });
    expect((await choose([candidate], measures, context)).kept).toEqual(["a"]);
    await choose([{ ...candidate, quantize: async () => new Graph("a,b") }], measures, context);
    expect(progress).toEqual([
      ["find the layers at fault in It", 0],
      ["find the layers at fault in It", 0.5],
    ]);
  });

  it("lists the missed limits and at most eight layers, NaN first, then the worst", async () => {
    const costs = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`l${i}`, i === 5 ? Number.NaN : 0.01 + i / 1000]),
    );
    const { candidate, measures } = costing(costs);
    const { code, message, hint } = await refusalBy([candidate], {
      parity: async (graph) => (graph.name === "" ? figures(0.9) : measures.parity(graph)),
    });
    expect({ code, hint }).toEqual({ code: "accuracy_gate", hint: expect.stringContaining("Nothing was written") });
    expect(message).toContain(
      "mean cosine 0.90000 (must be at least 0.99), worst cosine 0.90000 (must be at least 0.965) over 21 texts",
    );
    const rows = message.split("\n").slice(1);
    expect(rows[0]).toBe("  NaN  l5");
    expect(rows.map((row) => row.trim().split(/\s+/)[1])).toEqual(["l5", "l11", "l10", "l9", "l8", "l7", "l6", "l4"]);
  });

  it("refuses NaN, a broken quantizer and a comparison of no texts, with and without layers", async () => {
    const { candidate } = costing({ a: 0, b: 0, c: 0 });
    const broken: readonly Parity[] = [
      figures(Number.NaN),
      figures(0),
      { ...figures(1), minCosine: Number.NaN },
      parity([], []),
    ];
    for (const figures of broken) {
      for (const layers of [candidate.layers, []]) {
        const { code } = await refusalBy([{ ...candidate, layers }], { parity: async () => figures });
        expect(code).toBe("accuracy_gate");
      }
    }
  });

  it("passes on errors of a quantizer and of a measurement", async () => {
    const { candidate, measures } = costing({ a: 0 });
    const quantize = () => {
      throw new RangeError("broken");
    };
    await expect(choose([{ ...candidate, quantize }], measures)).rejects.toThrow("broken");
    await expect(choose([candidate], { parity: () => Promise.reject(new Error("gone")) })).rejects.toThrow("gone");
  });

  it("computes the task's metric only after parity reaches its limit, and refuses a low metric", async () => {
    const { candidate, measures } = costing({ a: 0.05, b: 0.001 });
    const scored: string[] = [];
    const scoring = (score: number): Measures => ({
      ...measures,
      async task({ name }) {
        scored.push(name);
        return { metric: "sts", score, fp32: 80 };
      },
    });
    expect(await choose([candidate], scoring(79.6))).toMatchObject({
      kept: ["a"],
      measured: { task: { score: 79.6 } },
    });
    expect(scored).toEqual(["a"]);
    const { message } = await refusalBy([candidate], scoring(79.4));
    expect(message).toContain("mean cosine 0.94900");
    const sound = costing({ a: 0 });
    const dropped = await refusalBy([sound.candidate], { ...scoring(79.4), parity: sound.measures.parity });
    expect(dropped.message).toContain("sts 79.40 instead of 80.00 (may drop by at most 0.5)");
  });
});
