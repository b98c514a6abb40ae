import { expect, it } from "vitest";
import { Sketch } from "#test/fixtures/sketch.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { MICROSOFT } from "./node.ts";
import { printGraph } from "./print-graph.ts";
import { int64s, tensor } from "./tensor.ts";

it("prints a readable graph", () => {
  const s = new Sketch();
  const ids = s.input("ids", ["batch", "seq"], "int64");
  const rows = s.op("Gather", [s.random([9, 4]), ids], { axis: 0 }, { name: "rows" });
  const heads = s.op("Reshape", [rows, [0, -1, 2, 2]], {}, { name: "heads" });
  const turned = s.op("Transpose", [heads], { perm: [0, 2, 1, 3] }, { name: "turned" });
  const scaled = s.op("Mul", [turned, Math.SQRT1_2], {}, { name: "scaled" });
  s.node(
    "LayerNormalization",
    [scaled, s.floats([2], [1, 0.1])],
    { epsilon: { float: 1e-12 }, axis: -1 },
    { name: "norm", outputs: ["norm", "", "deviation"] },
  );
  const fill = s.op("ConstantOfShape", [[2]], { value: { tensor: int64s(7) } }, { name: "fill" });
  const many = s.op(
    "Other",
    [fill, undefined, s.constant(tensor("bool", [5], new Uint8Array(5)))],
    { text: "words" },
    { name: "other", domain: MICROSOFT },
  );
  s.output(scaled, "scaled_heads");
  s.output(many);
  inferShapes(s.graph);
  expect(printGraph(s.graph)).toMatchInlineSnapshot(`
    "sketch(ids: int64[batch, seq]) -> scaled_heads = scaled: float32[batch, 2, seq, 2], result = other: ?
    rows: float32[batch, seq, 4] = Gather(float32[9, 4], ids) {axis: 0}
    heads: float32[batch, seq, 2, 2] = Reshape(rows, [0, -1, 2, 2])
    turned: float32[batch, 2, seq, 2] = Transpose(heads) {perm: [0, 2, 1, 3]}
    scaled: float32[batch, 2, seq, 2] = Mul(turned, 0.7071068)
    norm: float32[batch, 2, seq, 2], _, deviation: float32[batch, 2, seq, 1] = LayerNormalization(scaled, [1, 0.1]) {axis: -1, epsilon: 1e-12}
    fill: int64[2] = ConstantOfShape([2]) {value: [7]}
    other: ? = com.microsoft.Other(fill, _, bool[5]) {text: words}
    "
  `);
});

it("prints attributes sorted by name", () => {
  const text = (settings: Record<string, number>) => {
    const s = new Sketch();
    s.output(s.op("Softmax", [s.input("x", [3])], settings));
    return printGraph(s.graph);
  };
  expect(text({ axis: 1, b: 2 })).toBe(text({ b: 2, axis: 1 }));
  expect(text({ axis: 1 })).not.toBe(text({ axis: 2 }));
});
