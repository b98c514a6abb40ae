import { describe, expect, it } from "vitest";
import type { TargetName } from "../../artifact/manifest.ts";
import { Graph } from "../graph/graph.ts";
import { tensor } from "../graph/tensor.ts";
import { type EstimateInput, estimate } from "./estimate.ts";

const context = { folder: "/nowhere", progress: () => {} };

/** A graph that looks tokens up in a table, and multiplies by a matrix. Their contents are never read. */
function graph(tableRows: number, matrixRows: number): Graph {
  const made = new Graph("weights");
  const weight = (name: string, rows: number) =>
    made.constant(name, { ...tensor("float32", [], new Float32Array(1)), shape: [rows, 1_000] });
  const looked = made.add("Gather", [weight("table", tableRows), made.input("ids")]).output;
  const value = made.add("MatMul", [looked, weight("matrix", matrixRows)]).output;
  made.outputs.push({ name: "value", value, declaration: undefined });
  return made;
}

const input = (weights: Graph, changes: Partial<EstimateInput> = {}): EstimateInput => ({
  ...{ graph: weights, targets: ["edge"], tableBits: 8, force: false },
  ...changes,
});
const refusal = (given: EstimateInput) =>
  estimate.run(given, context).then(
    () => undefined,
    ({ code, hint }: { code: string; hint: string }) => ({ code, hint }),
  );

describe("estimate", () => {
  it("counts a byte for each weight, and the table's bits", async () => {
    expect(await estimate.run(input(graph(30_000, 20_000)), context)).toEqual({ bytes: 50e6, ms: 64 });
    expect(await estimate.run(input(graph(30_000, 20_000), { tableBits: 4 }), context)).toMatchObject({ bytes: 35e6 });
    const small = input(graph(30_000, 20_000), { tableBits: 4, weightBits: 4 });
    expect(await estimate.run(small, context)).toEqual({ bytes: 25e6, ms: 64 });
    expect(estimate.describe(input(graph(30_000, 20_000)))).toBe("edge: about 50 MB, 64 ms for 128 tokens");
  });

  it("refuses a model that no Worker can hold, if nothing else is asked for", async () => {
    const large = graph(30_000, 110_000);
    expect(estimate.describe(input(large))).toMatch(/140 MB, .*too large for a Worker$/);
    expect(await refusal(input(large))).toMatchObject({
      code: "model_too_large",
      hint: expect.stringMatching(
        /^Give --table int4\. Or prepare it for a region with --targets regional-cpu.*--force/,
      ),
    });
    const hintOf = async (weights: Graph) => (await refusal(input(weights)))?.hint;
    expect(await hintOf(graph(1_000, 200_000))).toMatch(/^Give --weights int4\. Or/);
    expect(await hintOf(graph(120_000, 130_000))).toMatch(/^Give --table int4 --weights int4\. Or/);
    expect(await hintOf(graph(1_000, 300_000))).toMatch(/^Prepare it for/);
    expect(await refusal(input(large, { force: true }))).toBeUndefined();
    expect(await refusal(input(large, { tableBits: 4 }))).toBeUndefined();
    for (const targets of [["edge", "regional-cpu"], ["regional-gpu"]] as TargetName[][]) {
      expect(await refusal(input(large, { targets }))).toBeUndefined();
    }
  });
});
