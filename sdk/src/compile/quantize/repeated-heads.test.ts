import { describe, expect, it } from "vitest";
import { HIDDEN, SIZE } from "#test/fixtures/draw-attention.ts";
import { drawGroupedAttention, QUERY_HEADS } from "#test/fixtures/draw-grouped-attention.ts";
import { angles, range, rotated } from "#test/fixtures/draw-rotary.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { countOperators, expectSame } from "#test/oracles/rewritten.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import type { ActivationStatistics } from "./calibration/activation-statistics.ts";
import { edgeForm } from "./edge-form.ts";

async function groupedAttention(): Promise<Graph> {
  const s = new Sketch();
  const x = s.input("x", ["batch", "sequence", HIDDEN]);
  s.output(drawGroupedAttention(s, x, (s, heads) => rotated(s, heads, angles(s, range(s, x)))));
  await fuseGraph(s.graph);
  return s.graph;
}

const weightsOf = (graph: Graph) =>
  [...graph.nodes].flatMap(({ opType, inputs: [, weight] }) => (opType === "MatMul" && weight ? [weight] : []));

describe("repeated heads of keys and values", () => {
  it("move into the weights of linear layers, also before a rotation", async () => {
    const fused = await groupedAttention();
    const { graph } = edgeForm(fused, undefined);
    expect(countOperators(graph)).toMatchObject({ MatMul: 3, RotaryEmbedding: 2, MultiHeadAttention: 1 });
    expect(weightsOf(graph).map(({ shape }) => shape)).toEqual(Array(3).fill([HIDDEN, QUERY_HEADS * SIZE]));
    await expectSame(graph, fused);
  });

  it("have the activation statistics of the original layers", async () => {
    const fused = await groupedAttention();
    const names = weightsOf(fused).map(({ name }) => name);
    const known = new Map(names.map((name, width) => [name, { width } as ActivationStatistics]));
    const { graph, statistics } = edgeForm(fused, known);
    expect(weightsOf(graph).map(({ name }) => statistics?.get(name)?.width)).toEqual([0, 1, 2]);
  });

  it("stay after a tensor that no linear layer computes", async () => {
    const s = new Sketch();
    const split = s.op("Reshape", [s.input("x", ["batch", "sequence", 8]), [0, 0, 2, 4]]);
    s.output(s.op("Reshape", [s.op("Gather", [split, [0, 0, 1, 1]], { axis: 2 }), [0, 0, 16]]));
    const { graph } = edgeForm(s.graph, undefined);
    expect(countOperators(graph)).toEqual({ Reshape: 2, Gather: 1 });
  });
});
