import { describe, expect, it } from "vitest";
import { HIDDEN, SIZE } from "#test/fixtures/draw-attention.ts";
import { drawGroupedAttention, QUERY_HEADS } from "#test/fixtures/draw-grouped-attention.ts";
import { angles, range, rotated } from "#test/fixtures/draw-rotary.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { countOperators, expectSame } from "#test/oracles/rewritten.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
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

const WIDTH = 4;

interface Drawing {
  readonly s: Sketch;
  readonly x: Value;
  readonly mask: Value;
}

/** Draws the mean of x over the tokens that a mask shows. */
const ways: Readonly<Record<string, (drawing: Drawing, axis?: number) => Value>> = {
  "the sum of shares": ({ s, x, mask }, axis = 1) => {
    const share = s.op("Div", [mask, s.op("ReduceSum", [mask, [1]], { keepdims: 1 })]);
    return s.op("ReduceSum", [s.op("Mul", [x, s.op("Unsqueeze", [share, [2]])]), [axis]], { keepdims: 0 });
  },
  "the sum, divided by the number of tokens": ({ s, x, mask }, axis = 1) => {
    const sum = s.op("ReduceSum", [s.op("Mul", [x, s.op("Unsqueeze", [mask, [2]])]), [axis]], { keepdims: 0 });
    return s.op("Div", [sum, s.op("ReduceSum", [mask, [1]], { keepdims: 1 })]);
  },
};

/** Draws a graph whose mask is 1 for all tokens, as at the edge. */
function draw(way: string, of = ({ x }: Drawing) => x, axis = 1, name = "attention_mask") {
  const s = new Sketch(18);
  const x = s.input("x", ["batch", "sequence", WIDTH]);
  const mask = s.op("Cast", [s.input(name, ["batch", "sequence"], "int64")], { to: 1 });
  s.output(ways[way]?.({ s, x: of({ s, x, mask }), mask }, axis) as Value);
  inferShapes(s.graph);
  return s.graph;
}

describe.each(Object.keys(ways))("a mean as %s", (way) => {
  it("becomes ReduceMean", async () => {
    expect(countOperators(edgeForm(draw(way), undefined).graph)).toEqual({ ReduceMean: 1 });
  });

  it("is computed before linear layers", async () => {
    const dense = ({ s, x }: Drawing) => s.op("Add", [s.op("MatMul", [x, s.random([WIDTH, 2])]), s.random([2])]);
    const { graph } = edgeForm(draw(way, dense), undefined);
    expect(graph.sorted().map(({ opType }) => opType)).toEqual(["ReduceMean", "MatMul", "Add"]);
  });

  it("stays if another input than attention_mask shows the tokens, or another axis is averaged", () => {
    const others = [draw(way, undefined, 1, "weights"), draw(way, undefined, 2)];
    for (const graph of others) expect(countOperators(edgeForm(graph, undefined).graph)["ReduceMean"]).toBeUndefined();
  });
});
