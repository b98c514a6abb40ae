import { describe, expect, it } from "vitest";
import { calibrationBatch } from "#test/fixtures/calibration-batch.ts";
import { randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { BertEdgeError } from "../../../artifact/error.ts";
import { encoderGraph } from "../../checkpoint/encoder-graph.ts";
import type { Value } from "../../graph/node.ts";
import { printGraph } from "../../graph/print-graph.ts";
import { type Tensor, tensor } from "../../graph/tensor.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { observeRanges } from "./observe-ranges.ts";

const floats = (shape: readonly number[], ...numbers: number[]) => tensor("float32", shape, Float32Array.from(numbers));
const maskOf = (shape: readonly number[], ...numbers: number[]) =>
  tensor("int64", shape, BigInt64Array.from(numbers, BigInt));

/** relu(x) · W, of x [batch, sequence, 2]. */
function sketch(draw = (s: Sketch, x: Value) => s.op("Relu", [x])) {
  const s = new Sketch();
  const x = s.input("x", ["batch", "sequence", 2]);
  const read = draw(s, x);
  s.output(s.op("MatMul", [read, s.random([2, 3])], {}, { name: "dense" }));
  inferShapes(s.graph);
  return { graph: s.graph, x, read };
}

const given = (x: Tensor, mask?: Tensor) => new Map([["x", x], ...(mask ? [["attention_mask", mask] as const] : [])]);

describe("observedRanges", () => {
  it("finds the least and the greatest that a product reads, over all batches", async () => {
    const { graph, read } = sketch((s, x) => s.op("Neg", [x]));
    const batches = [given(floats([1, 2, 2], 1, -2, 3, 0)), given(floats([1, 1, 2], -7, 0.5))];
    const ranges = await observeRanges(graph, batches, { threads: 1 });
    expect([...ranges.keys()]).toEqual([read]);
    expect(ranges.get(read)).toMatchObject({ min: -3, max: 7 });
    expect(ranges.get(read)?.histogram.reduce((sum, count) => sum + count, 0)).toBe(6);
  });

  it("finds ranges that do not reach 0", async () => {
    const { graph, read } = sketch((s, x) => s.op("Neg", [x]));
    const ranges = await observeRanges(graph, [given(floats([1, 1, 2], -5, -3))]);
    expect(ranges.get(read)).toMatchObject({ min: 3, max: 5 });
  });

  it.each<[string, readonly number[], (s: Sketch, x: Value) => Value]>([
    ["by text and token", [2, 2, 2], (s, x) => s.op("Neg", [x])],
    ["in one row a token", [2, 2, 2], (s, x) => s.op("Reshape", [x, [-1, 2]])],
  ])("leaves padding out, whatever it holds: %s", async (_, shape, draw) => {
    const { graph, read } = sketch(draw);
    const x = floats(shape, 1, -1, 900, Number.NaN, Number.POSITIVE_INFINITY, 900, 2, -2);
    const range = (await observeRanges(graph, [given(x, maskOf([2, 2], 1, 0, 0, 1))])).get(read);
    expect(range).toMatchObject({ min: -2, max: 2 });
  });

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["a vector a text", (s, x) => s.op("ReduceMax", [x], { axes: [1], keepdims: 0 })],
    ["three axes of other sizes", (s, x) => s.op("Reshape", [x, [-1, 1, 2]])],
  ])("counts everything in what is not a row a token: %s", async (_, draw) => {
    const { graph, read } = sketch(draw);
    const batch = given(floats([1, 2, 2], 3, 4, 5, 9), maskOf([1, 2], 1, 0));
    expect((await observeRanges(graph, [batch])).get(read)).toMatchObject({ max: 9 });
  });

  it("finds the same in a graph and in its fused form", async () => {
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
        return ranges.map(({ min: least, max: greatest }) => [least.toFixed(3), greatest.toFixed(3)]);
      }),
    );
    // Input of query, key and value; context; two of the feed-forward part; in two layers.
    expect(fused).toHaveLength(8);
    expect(fused).toEqual(unfused);
  });

  it("has nothing to say of a graph without products", async () => {
    const s = new Sketch();
    s.output(s.op("Relu", [s.input("x", [2])]));
    inferShapes(s.graph);
    expect((await observeRanges(s.graph, [given(floats([2], 1, 2))])).size).toBe(0);
  });
});

describe("calibration is refused", () => {
  it.each<[string, ReadonlyMap<string, Tensor>[]]>([
    ["without batches", []],
    ["on padding alone", [given(floats([1, 1, 2], 1, 2), maskOf([1, 1], 0))]],
    ["on a number that is none", [given(floats([1, 1, 2], 1, Number.NaN))]],
    ["on an infinite number", [given(floats([1, 1, 2], 1, Number.NEGATIVE_INFINITY))]],
  ])("%s, with the product's name", async (_, batches) => {
    const error = await observeRanges(sketch((s, x) => s.op("Neg", [x])).graph, batches).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(BertEdgeError);
    expect(error).toMatchObject({ code: "calibration_invalid", message: expect.stringContaining("dense") });
  });

  it("on a batch without an input", async () => {
    expect(await refusalOf(observeRanges(sketch().graph, [new Map()]))).toBe("calibration_invalid");
  });
});
