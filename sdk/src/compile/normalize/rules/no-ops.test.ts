import { describe, expect, it } from "vitest";
import { CAST, type Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";

type Draw = (s: Sketch, x: Value) => Value;
const truth = (s: Sketch, value: 0 | 1) => s.constant(tensor("bool", [], Uint8Array.of(value)));
const shapeOf = (s: Sketch, x: Value) => s.op("Shape", [x]);

const canonical = (draw: Draw) =>
  rewritten((s) => s.output(s.op("Tanh", [draw(s, s.input("x", ["batch", "sequence", 4]))])), { optimize: only() });

describe("an operator without effect is removed", () => {
  it.each<[string, Draw]>([
    ["Identity", (s, x) => s.op("Identity", [x])],
    ["Dropout", (s, x) => s.op("Dropout", [x, 0.5])],
    ["Dropout in inference mode", (s, x) => s.op("Dropout", [x, 0.5, truth(s, 0)])],
    ["Cast to the same type", (s, x) => s.op("Cast", [x], { to: CAST.float32 })],
    ["Reshape to the same shape", (s, x) => s.op("Reshape", [x, [0, 0, 4]])],
    ["Reshape to a computed shape", (s, x) => s.op("Reshape", [x, shapeOf(s, x)])],
    ["Squeeze of no axes", (s, x) => s.op("Squeeze", [x, []])],
    ["Expand to its own shape", (s, x) => s.op("Expand", [x, shapeOf(s, x)])],
    ["Expand to ones", (s, x) => s.op("Expand", [x, [1, 1, 1]])],
    ["Tile once", (s, x) => s.op("Tile", [x, [1, 1, 1]])],
    ["Slice of all elements", (s, x) => s.op("Slice", [x, [0], [2 ** 31 - 1], [1]])],
    ["Concat of one tensor", (s, x) => s.op("Concat", [x], { axis: 1 })],
    ["Transpose to the same order", (s, x) => s.op("Transpose", [x], { perm: [0, 1, 2] })],
    ["x + 0", (s, x) => s.op("Add", [x, 0])],
    ["0 + x", (s, x) => s.op("Add", [0, x])],
    ["x − 0", (s, x) => s.op("Sub", [x, 0])],
    ["1 · x", (s, x) => s.op("Mul", [1, x])],
    ["x / 1", (s, x) => s.op("Div", [x, 1])],
    ["Where true", (s, x) => s.op("Where", [truth(s, 1), x, 0])],
    ["Where false", (s, x) => s.op("Where", [truth(s, 0), 0, x])],
  ])("%s", async (_, draw) => {
    expect((await canonical(draw)).counts).toEqual({ Tanh: 1 });
  });

  it.each([
    ["And true", "And", 1],
    ["Or false", "Or", 0],
  ] as const)("%s", async (_, opType, element) => {
    const { counts } = await rewritten(
      (s) => s.output(s.op("Not", [s.op(opType, [s.input("x", ["batch"], "bool"), truth(s, element)])])),
      { optimize: only() },
    );
    expect(counts).toEqual({ Not: 1 });
  });
});

describe("an operator with an effect stays", () => {
  it.each<[string, Draw, string]>([
    ["x + 0 with another axis", (s, x) => s.op("Add", [x, s.floats([1, 1, 1, 1], [0])]), "Add"],
    ["x + a vector of 0 and 1", (s, x) => s.op("Add", [x, s.floats([4], [0, 0, 0, 1])]), "Add"],
    ["0 − x", (s, x) => s.op("Sub", [0, x]), "Sub"],
    ["1 / x", (s, x) => s.op("Div", [1, x]), "Div"],
    ["x + 1e-9", (s, x) => s.op("Add", [x, 1e-9]), "Add"],
    ["Dropout in training mode", (s, x) => s.op("Dropout", [x, 0, truth(s, 1)]), "Dropout"],
    [
      "Dropout in a mode the caller chooses",
      (s, x) => s.op("Dropout", [x, 0, s.input("training", [], "bool")]),
      "Dropout",
    ],
    ["Slice backwards", (s, x) => s.op("Slice", [x, [-1], [-5], [2], [-1]]), "Slice"],
    [
      "Slice that ends after the last element",
      (s, x) => s.op("Slice", [x, [1], s.op("Add", [s.op("Gather", [shapeOf(s, x), [1]]), s.index(1)]), [1]]),
      "Slice",
    ],
    ["Slice of a part", (s, x) => s.op("Slice", [x, [1], [4], [2]]), "Slice"],
    ["Expand to a larger shape", (s, x) => s.op("Expand", [x, [2, 1, 1, 1]]), "Expand"],
    [
      "Expand of an axis of size 1",
      (s, x) => s.op("Expand", [s.op("ReduceMax", [x], { axes: [2] }), [1, 1, 4]]),
      "Expand",
    ],
    ["Tile twice", (s, x) => s.op("Tile", [x, [1, 1, 2]]), "Tile"],
    ["Concat of two tensors", (s, x) => s.op("Concat", [x, x], { axis: 2 }), "Concat"],
    ["Transpose of two axes", (s, x) => s.op("Transpose", [x], { perm: [1, 0, 2] }), "Transpose"],
    ["Transpose without perm", (s, x) => s.op("Transpose", [x]), "Transpose"],
    [
      "Where true that adds an axis",
      (s, x) => s.op("Where", [s.constant(tensor("bool", [2, 1, 1, 1], Uint8Array.of(1, 1))), x, 0]),
      "Where",
    ],
    [
      "Where with a condition from an input",
      (s, x) => s.op("Where", [s.input("c", ["batch", 1, 1], "bool"), x, 0]),
      "Where",
    ],
  ])("%s", async (_, draw, opType) => {
    expect((await canonical(draw)).counts[opType]).toBe(1);
  });

  it("Cast to another type", async () => {
    const { counts } = await canonical((s, x) =>
      s.op("Cast", [s.op("Cast", [x], { to: CAST.int32 })], { to: CAST.float32 }),
    );
    expect(counts["Cast"]).toBe(2);
  });
});
