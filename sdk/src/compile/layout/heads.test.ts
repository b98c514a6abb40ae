import { describe, expect, it } from "vitest";
import { merge, split } from "#test/fixtures/draw-attention.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import type { Value } from "../graph/node.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { mergedHeads, splitHeads } from "./heads.ts";

const [COUNT, SIZE] = [2, 3];
const WIDTH = COUNT * SIZE;
const consecutive = Array.from({ length: WIDTH }, (_, i) => i);

function splitOf(draw: (s: Sketch, x: Value) => Value, transposed = false, width = WIDTH) {
  const s = new Sketch();
  const x = s.op("Tanh", [s.input("x", ["batch", "sequence", width])]);
  const value = draw(s, x);
  s.output(value);
  inferShapes(s.graph);
  return splitHeads(value, transposed);
}

const rows = (s: Sketch, x: Value) => s.op("Reshape", [x, [0, 0, COUNT, SIZE]]);
const transpose = (s: Sketch, x: Value, ...perm: number[]) => s.op("Transpose", [x], { perm });

describe("splitHeads", () => {
  it.each<[string, (s: Sketch, x: Value) => Value, boolean?]>([
    ["[batch, heads, sequence, size]", (s, x) => split(s, x, COUNT, SIZE)],
    ["[batch, heads, size, sequence]", (s, x) => transpose(s, rows(s, x), 0, 2, 3, 1), true],
    [
      "[batch · heads, sequence, size]",
      (s, x) =>
        s.op("Reshape", [
          split(s, x, COUNT, SIZE),
          s.op("Concat", [[-1], s.op("Slice", [s.op("Shape", [x]), [1], [2]]), [SIZE]], { axis: 0 }),
        ]),
    ],
  ])("recognizes %s", (_, draw, transposed) => {
    expect(splitOf(draw, transposed)).toMatchObject({ count: COUNT, size: SIZE, columns: consecutive, scale: 1 });
  });

  it("finds the columns of a part of a packed projection", () => {
    const packed = (s: Sketch, x: Value) => {
      const parts = transpose(s, s.op("Reshape", [x, [0, 0, COUNT, 3, SIZE]]), 3, 0, 2, 1, 4);
      return s.op("Gather", [parts, s.index(1)]);
    };
    expect(splitOf(packed, false, 3 * WIDTH)?.columns).toEqual([3, 4, 5, 12, 13, 14]);
  });

  it("finds the columns of interleaved heads", () => {
    const interleaved = (s: Sketch, x: Value) => transpose(s, s.op("Reshape", [x, [0, 0, SIZE, COUNT]]), 0, 3, 1, 2);
    expect(splitOf(interleaved)?.columns).toEqual([0, 2, 4, 1, 3, 5]);
  });

  it("finds the scale of the heads", () => {
    expect(splitOf((s, x) => s.op("Div", [split(s, s.op("Mul", [x, 3]), COUNT, SIZE), 2]))?.scale).toBe(1.5);
  });

  it.each<[string, (s: Sketch, x: Value) => Value, boolean?]>([
    ["batch and sequence swapped", (s, x) => transpose(s, rows(s, x), 1, 2, 0, 3)],
    [
      "sequence and heads mixed",
      (s, x) =>
        s.op("Reshape", [
          x,
          s.op("Concat", [s.op("Slice", [s.op("Shape", [x]), [0], [1]]), [COUNT, -1, SIZE]], { axis: 0 }),
        ]),
    ],
    ["keys that are not transposed", (s, x) => split(s, x, COUNT, SIZE), true],
    ["two axes", (s, x) => s.op("Reshape", [x, [-1, SIZE]])],
    ["heads that another computation follows", (s, x) => s.op("Tanh", [split(s, x, COUNT, SIZE)])],
    ["heads that come first", (s, x) => transpose(s, rows(s, x), 2, 0, 1, 3)],
  ])("refuses %s", (_, draw, transposed) => {
    expect(splitOf(draw, transposed)).toBeUndefined();
  });
});

describe("mergedHeads", () => {
  const mergedOf = (
    draw: (s: Sketch, context: Value) => Value,
    shape: (string | number)[] = ["batch", COUNT, "sequence", SIZE],
  ) => {
    const s = new Sketch();
    const context = s.op("Tanh", [s.input("x", shape)]);
    const last = draw(s, context);
    s.output(last);
    inferShapes(s.graph);
    return { merged: mergedHeads(context, COUNT), last };
  };

  it.each<[string, (s: Sketch, context: Value) => Value, (string | number)[]?]>([
    ["[batch, heads, sequence, size]", merge],
    ["with an axis of size 1", (s, context) => s.op("Reshape", [transpose(s, context, 0, 2, 1, 3), [0, 0, 1, WIDTH]])],
  ])("finds the merged value of %s", (_, draw, shape) => {
    const { merged, last } = mergedOf(draw, shape);
    expect(merged).toBe(last);
  });

  it.each<[string, (s: Sketch, context: Value) => Value]>([
    ["heads and size swapped", (s, context) => s.op("Reshape", [transpose(s, context, 0, 2, 3, 1), [0, 0, -1]])],
    ["sequence and batch swapped", (s, context) => s.op("Reshape", [transpose(s, context, 2, 0, 1, 3), [0, 0, -1]])],
    [
      "heads that are not transposed",
      (s, context) =>
        s.op("Reshape", [
          context,
          s.op("Concat", [s.op("Slice", [s.op("Shape", [context]), [0], [1]]), [-1, WIDTH]], { axis: 0 }),
        ]),
    ],
    ["a scale in between", (s, context) => merge(s, s.op("Mul", [context, 2]))],
    ["a computation in between", (s, context) => merge(s, s.op("Erf", [context]))],
  ])("refuses %s", (_, draw) => {
    expect(mergedOf(draw).merged).toBeUndefined();
  });
});
