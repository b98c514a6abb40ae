import { describe, expect, it } from "vitest";
import { calibrationBatch } from "#test/fixtures/calibration-batch.ts";
import { randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { printGraph } from "#test/fixtures/print-graph.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { BertEdgeError } from "../../../artifact/error.ts";
import { encoderGraph } from "../../checkpoint/encoder-graph.ts";
import type { Value } from "../../graph/node.ts";
import { type Tensor, tensor } from "../../graph/tensor.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { observeRanges } from "./observe-ranges.ts";

const floats = (shape: readonly number[], ...numbers: number[]) => tensor("float32", shape, Float32Array.from(numbers));
const maskOf = (shape: readonly number[], ...numbers: number[]) =>
  tensor("int64", shape, BigInt64Array.from(numbers, BigInt));

/** Draws draw(x) · W for x [batch, sequence, 2]. Default: relu(x) · W. */
function sketch(draw = (s: Sketch, x: Value) => s.op("Relu", [x])) {
  const s = new Sketch();
  const x = s.input("x", ["batch", "sequence", 2]);
  const read = draw(s, x);
  s.output(s.op("MatMul", [read, s.random([2, 3])], {}, { name: "dense" }));
  inferShapes(s.graph);
  return { graph: s.graph, x, read };
}

const given = (x: Tensor, mask?: Tensor) => new Map([["x", x], ...(mask ? [["attention_mask", mask] as const] : [])]);

describe("observeRanges", () => {
  it("finds the minimum and maximum of a layer's input over all batches", async () => {
    const { graph, read } = sketch((s, x) => s.op("Neg", [x]));
    const batches = [given(floats([1, 2, 2], 1, -2, 3, 0)), given(floats([1, 1, 2], -7, 0.5))];
    const ranges = await observeRanges(graph, batches, { threads: 1 });
    expect([...ranges.keys()]).toEqual([read]);
    expect(ranges.get(read)).toMatchObject({ min: -3, max: 7 });
    expect(ranges.get(read)?.histogram.reduce((sum, count) => sum + count, 0)).toBe(6);
  });

  it("does not extend a range to 0", async () => {
    const { graph, read } = sketch((s, x) => s.op("Neg", [x]));
    const ranges = await observeRanges(graph, [given(floats([1, 1, 2], -5, -3))]);
    expect(ranges.get(read)).toMatchObject({ min: 3, max: 5 });
  });

  it.each<[string, readonly number[], (s: Sketch, x: Value) => Value]>([
    ["[batch, sequence, width]", [2, 2, 2], (s, x) => s.op("Neg", [x])],
    ["[batch · sequence, width]", [2, 2, 2], (s, x) => s.op("Reshape", [x, [-1, 2]])],
  ])("ignores padding: %s", async (_, shape, draw) => {
    const { graph, read } = sketch(draw);
    const x = floats(shape, 1, -1, 900, Number.NaN, Number.POSITIVE_INFINITY, 900, 2, -2);
    const range = (await observeRanges(graph, [given(x, maskOf([2, 2], 1, 0, 0, 1))])).get(read);
    expect(range).toMatchObject({ min: -2, max: 2 });
  });

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["one vector per text", (s, x) => s.op("ReduceMax", [x], { axes: [1], keepdims: 0 })],
    ["three axes of other sizes", (s, x) => s.op("Reshape", [x, [-1, 1, 2]])],
  ])("counts all rows of a tensor without one row per token: %s", async (_, draw) => {
    const { graph, read } = sketch(draw);
    const batch = given(floats([1, 2, 2], 3, 4, 5, 9), maskOf([1, 2], 1, 0));
    expect((await observeRanges(graph, [batch])).get(read)).toMatchObject({ max: 9 });
  });

  it("finds the same ranges before and after fusion", async () => {
    const { config, weights } = tinyBert();
    const batches = [
      calibrationBatch(
        randomBatch(
          [
            [1, 1, 1, 1],
            [0, 1, 1, 0],
          ],
          50,
        ),
      ),
    ];
    const graphs = [encoderGraph(config, weights), await fusedGraph(config, weights)];
    const [unfused, fused] = await Promise.all(
      graphs.map(async (graph) => {
        const before = printGraph(graph);
        const ranges = [...(await observeRanges(graph, batches)).values()];
        expect(printGraph(graph)).toBe(before);
        return ranges.map(({ min, max }) => [min.toFixed(3), max.toFixed(3)]);
      }),
    );
    // Each of the two encoder layers has four inputs: one for the query, key and value projections, one for the
    // attention output, and two for the feed-forward block.
    expect(fused).toHaveLength(8);
    expect(fused).toEqual(unfused);
  });

  it("finds nothing in a graph without linear layers", async () => {
    const s = new Sketch();
    s.output(s.op("Relu", [s.input("x", [2])]));
    inferShapes(s.graph);
    expect((await observeRanges(s.graph, [given(floats([2], 1, 2))])).size).toBe(0);
  });
});

describe("observeRanges refuses", () => {
  it.each<[string, ReadonlyMap<string, Tensor>[]]>([
    ["no batches", []],
    ["batches with only padding", [given(floats([1, 1, 2], 1, 2), maskOf([1, 1], 0))]],
    ["NaN", [given(floats([1, 1, 2], 1, Number.NaN))]],
    ["an infinite number", [given(floats([1, 1, 2], 1, Number.NEGATIVE_INFINITY))]],
  ])("%s, and names the layer", async (_, batches) => {
    const error = await observeRanges(sketch((s, x) => s.op("Neg", [x])).graph, batches).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(BertEdgeError);
    expect(error).toMatchObject({ code: "calibration_invalid", message: expect.stringContaining("dense") });
  });

  it("a batch without an input of the model", async () => {
    expect(await refusalOf(observeRanges(sketch().graph, [new Map()]))).toBe("calibration_invalid");
  });
});
