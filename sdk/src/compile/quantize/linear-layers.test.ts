import { beforeAll, describe, expect, it } from "vitest";
import { Sketch } from "#test/fixtures/sketch.ts";
import { countOperators, expectSame } from "#test/oracles/rewritten.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { untiedWeights } from "./linear-layers.ts";
import { precisions } from "./precisions.ts";

/** Size of a table that has more bytes than a folded constant may add to a file. */
const [VOCABULARY, WIDTH] = [10_000, 32];

describe("tied weights", () => {
  let fused: Graph;
  beforeAll(async () => {
    const s = new Sketch();
    const table = s.random([VOCABULARY, WIDTH]);
    const states = s.op("Tanh", [s.op("Gather", [table, s.input("ids", ["batch", "sequence"], "int64")])]);
    s.output(s.op("MatMul", [states, s.op("Transpose", [table], { perm: [1, 0] })]));
    await fuseGraph(s.graph);
    fused = s.graph;
  });

  it("are stored once in float32", () => {
    expect(countOperators(fused)).toEqual({ Gather: 1, Tanh: 1, Transpose: 1, MatMul: 1 });
  });

  it("get a matrix of their own", async () => {
    const untied = untiedWeights(fused);
    expect(countOperators(untied)).toEqual({ Gather: 1, Tanh: 1, MatMul: 1 });
    await expectSame(untied, fused, { below: { ids: VOCABULARY } });
  });

  it.each(["int8", "int8-mixed", "int8-blocks", "int8-edge"] as const)("are quantized in %s", async (precision) => {
    const counts = countOperators(await precisions[precision](fused)());
    expect(counts["Transpose"]).toBeUndefined();
    expect(counts["MatMul"]).toBeUndefined();
  });
});
