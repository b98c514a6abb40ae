import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { drawAttention, HIDDEN } from "#test/fixtures/draw-attention.ts";
import { Sketch, type SketchOperand } from "#test/fixtures/sketch.ts";
import { halved } from "#test/oracles/halved.ts";
import type { Tensors } from "#test/oracles/run-model.ts";
import { MICROSOFT, type Value } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";

/** Maximum absolute difference from float32. Rounding causes at most 0.002 here; a wrong mask, mean or scale at least 0.1. */
const MAX_DIFFERENCE = 0.01;

const LOWEST = -3.4028234663852886e38;
const ROWS = 3;
const LENGTH = 5;

type Draw = (s: Sketch, x: Value, mask: Value) => Value;

/** Hidden states between −size and size. Large sizes take intermediate results out of float16's range. */
const hiddenStates = (size: number, shape: readonly number[] = [ROWS, LENGTH, HIDDEN]): ort.Tensor => {
  const count = shape.reduce((total, size) => total * size, 1);
  const values = Float32Array.from({ length: count }, (_, i) => size * Math.sin(1 + 3 * i));
  return new ort.Tensor("float32", values, shape);
};

/** Attention masks [rows, length]: one row without tokens, one padded on the right and one padded on the left. */
const masks = [0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1];

async function compare(draw: Draw, x: ort.Tensor, maskType: "int64" | "float32" = "int64") {
  const s = new Sketch();
  const open = x.dims.map((size, axis) => (axis === x.dims.length - 1 ? size : `x.${axis}`));
  const [input, mask] = [s.input("x", open), s.input("mask", ["x.0", "x.1"], maskType)];
  s.output(draw(s, input, mask));
  inferShapes(s.graph);
  const values = maskType === "int64" ? BigInt64Array.from(masks, BigInt) : Float32Array.from(masks);
  const feeds: Tensors = { x, mask: new ort.Tensor(maskType as "int64", values as BigInt64Array, [ROWS, LENGTH]) };
  const given = Object.fromEntries(Object.entries(feeds).filter(([name]) => name === "x" || mask.users.size > 0));
  if (mask.users.size === 0) s.graph.inputs.pop();
  const result = await halved(s.graph, [given]);
  expect(result.difference).toBeLessThan(MAX_DIFFERENCE);
  // At least one node must be in half precision; otherwise the test compares two equal graphs.
  expect([...result.graph.nodes].some(({ output }) => output.dtype === "float16")).toBe(true);
  return result.graph;
}

const absent = (s: Sketch, mask: Value): Value => {
  const present = mask.dtype === "float32" ? mask : s.op("Cast", [mask], { to: 1 });
  return s.op("Unsqueeze", [s.op("Sub", [1, present]), [1, 2]]);
};
const isAbsent = (s: Sketch, mask: Value) => s.op("Unsqueeze", [s.op("Equal", [mask, s.index(0)]), [1, 2]]);
const linear = (s: Sketch, x: Value, columns = HIDDEN) => s.op("MatMul", [x, s.random([HIDDEN, columns])]);
const attention = (masked: (s: Sketch, scores: Value, mask: Value) => Value): Draw => {
  return (s, x, mask) => drawAttention(s, x, { masked: (_, scores) => masked(s, scores, mask) });
};
const last = (s: Sketch, opType: string, x: Value) => s.op(opType, [x], { axes: [-1], keepdims: 1 });

describe("toFp16, for unfused masks", () => {
  it.each<[string, Draw]>([
    [
      "(1 − mask) · float32 minimum, added to very negative scores",
      attention((s, scores, mask) => s.op("Add", [scores, s.op("Mul", [absent(s, mask), LOWEST])])),
    ],
    [
      "Where selects 0 or −∞, and NaN of rows without keys becomes 0",
      attention((s, scores, mask) => {
        const fill = s.op("Where", [isAbsent(s, mask), Number.NEGATIVE_INFINITY, 0]);
        const probabilities = s.op("Softmax", [s.op("Add", [scores, fill])], { axis: -1 });
        return s.op("Where", [s.op("IsNaN", [probabilities]), 0, probabilities]);
      }),
    ],
    [
      "Where selects scores or the float32 minimum",
      attention((s, scores, mask) => s.op("Where", [isAbsent(s, mask), LOWEST, scores])),
    ],
    [
      "the sum of two masks",
      attention((s, scores, mask) => {
        const padding = s.op("Mul", [absent(s, mask), -1e38]);
        const causal = s.floats(
          [1, 1, LENGTH, LENGTH],
          Float32Array.from({ length: LENGTH ** 2 }, (_, i) => (i % LENGTH > Math.floor(i / LENGTH) ? -1e38 : 0)),
        );
        return s.op("Add", [scores, s.op("Add", [padding, causal])]);
      }),
    ],
    [
      "a constant mask times 0, where −∞ · 0 would be NaN",
      attention((s, scores, mask) => {
        const stored = s.floats([1, 1, 1, LENGTH], Array(LENGTH).fill(-1e9));
        return s.op("Add", [scores, s.op("Mul", [absent(s, mask), stored])]);
      }),
    ],
    [
      "a mask from ConstantOfShape",
      attention((s, scores, mask) => {
        const value = { tensor: tensor("float32", [1], Float32Array.of(LOWEST)) };
        const fill = s.op("ConstantOfShape", [s.op("Shape", [isAbsent(s, mask)])], { value });
        return s.op("Add", [scores, s.op("Mul", [absent(s, mask), fill])]);
      }),
    ],
  ])("%s", async (_, draw) => {
    await compare(draw, hiddenStates(12));
  });

  it("accepts a float32 mask", async () => {
    const draw = attention((s, scores, mask) => s.op("Add", [scores, s.op("Mul", [absent(s, mask), -1e9])]));
    await compare(draw, hiddenStates(12), "float32");
  });

  it.each<[string, (s: Sketch, mask: Value) => SketchOperand]>([
    [
      "a computed bias",
      (s, mask) => {
        const once = s.op("Mul", [absent(s, mask), -1e38]);
        return s.op("Expand", [s.op("Add", [once, once]), [1, 1, LENGTH, 1]]);
      },
    ],
    [
      "a constant bias",
      (s) => {
        const causal = Array.from({ length: LENGTH ** 2 }, (_, i) =>
          i % LENGTH < Math.floor(i / LENGTH) ? 0 : LOWEST,
        );
        return s.floats([1, 1, LENGTH, LENGTH], causal);
      },
    ],
  ])("keeps the bias of a fused attention finite: %s", async (_, bias) => {
    const graph = await compare((s, x, mask) => {
      const inputs = [x, x, x, undefined, undefined, bias(s, mask)];
      const fused = s.op("MultiHeadAttention", inputs, { num_heads: 2 }, { domain: MICROSOFT });
      // Some queries may not attend to any key. The results of these queries differ between fp16 and float32: the very
      // large float32 bias rounds the scores away, but the smaller fp16 bias does not. Multiply these results by 0.
      const present = s.op("Unsqueeze", [s.op("Cast", [mask], { to: 1 }), [2]]);
      return s.op("Mul", [s.op("Mul", [fused, present]), s.floats([LENGTH, 1], [0, 1, 1, 1, 1])]);
    }, hiddenStates(1));
    const attended = [...graph.nodes].find(({ opType }) => opType === "MultiHeadAttention");
    expect(attended?.output.dtype).toBe("float16");
  });
});

describe("toFp16, for unfused normalization, pooling and activations", () => {
  const normalized =
    (square: (s: Sketch, centre: Value) => Value, epsilon = 1e-12): Draw =>
    (s, x) => {
      const centre = s.op("Sub", [x, last(s, "ReduceMean", x)]);
      const deviation = s.op("Sqrt", [s.op("Add", [last(s, "ReduceMean", square(s, centre)), epsilon])]);
      return linear(s, s.op("Div", [centre, deviation]));
    };
  const power = (s: Sketch, centre: Value) => s.op("Pow", [centre, 2]);
  const times = (s: Sketch, centre: Value) => s.op("Mul", [centre, centre]);

  it.each<[string, Draw]>([
    ["the variance of large hidden states, squared by Pow", (s, x) => normalized(power)(s, linear(s, x), x)],
    ["the variance of large hidden states, squared by Mul", (s, x) => normalized(times)(s, linear(s, x), x)],
    [
      "a reciprocal standard deviation, as TensorFlow writes it",
      (s, x) => {
        const y = linear(s, x);
        const scale = s.op("Reciprocal", [s.op("Sqrt", [s.op("Add", [last(s, "ReduceMean", times(s, y)), 1e-12])])]);
        return linear(s, s.op("Mul", [y, scale]));
      },
    ],
  ])("%s", async (_, draw) => {
    await compare(draw, hiddenStates(300));
  });

  it("normalizes a row of equal numbers without 0 / 0", async () => {
    const equal = new ort.Tensor("float32", new Float32Array(ROWS * LENGTH * HIDDEN).fill(0.5), [ROWS, LENGTH, HIDDEN]);
    await compare((s, x) => s.op("Add", [normalized(times)(s, x, x), linear(s, x)]), equal);
  });

  it("divides a zero vector by its length without 0 / 0", async () => {
    await compare((s, x) => {
      const y = linear(s, x);
      return s.op("Div", [y, s.op("Clip", [last(s, "ReduceL2", y), 1e-12])]);
    }, hiddenStates(0));
  });

  it("averages zero tokens without 0 / 0", async () => {
    await compare((s, x, mask) => {
      const present = s.op("Unsqueeze", [s.op("Cast", [mask], { to: 1 }), [2]]);
      const sum = s.op("ReduceSum", [s.op("Mul", [linear(s, x), present]), [1]], { keepdims: 0 });
      const count = s.op("Clip", [s.op("ReduceSum", [present, [1]], { keepdims: 0 }), 1e-9]);
      return s.op("Div", [sum, count]);
    }, hiddenStates(1));
  });

  it("keeps a sum beyond 65504 that is divided afterwards", async () => {
    await compare(
      (s, x) => s.op("Mul", [s.op("ReduceSum", [s.op("Abs", [linear(s, x)]), [1]], { keepdims: 0 }), 1e-3]),
      hiddenStates(20_000),
    );
  });

  it("computes an unfused softmax", async () => {
    await compare((s, x) => {
      const powers = s.op("Exp", [linear(s, x)]);
      return s.op("Div", [powers, last(s, "ReduceMean", powers)]);
    }, hiddenStates(10));
  });

  it("computes a cube, as in GELU's tanh approximation", async () => {
    await compare((s, x) => {
      const y = linear(s, x);
      const cube = s.op("Mul", [s.op("Mul", [y, y]), y]);
      return s.op("Div", [s.op("Mul", [cube, 1e-3]), 1e3]);
    }, hiddenStates(60));
  });
});

describe("toFp16, for constants outside half precision's range", () => {
  const column = (scale: number) => Array.from({ length: 2 * HIDDEN }, (_, i) => (i % 2 ? 1 : scale) * Math.cos(i));
  const row = (scale: number) => Array.from({ length: 2 * HIDDEN }, (_, i) => (i < HIDDEN ? scale : 1) * Math.cos(i));
  const restored = (s: Sketch, x: Value, scale: number) => s.op("Mul", [x, s.floats([2], [1 / scale, 1])]);

  it.each<[string, Draw]>([
    ["a scalar beyond 65504", (s, x) => s.op("Mul", [s.op("Mul", [linear(s, x), 2e5]), 1e-4])],
    ["a scalar below 6e-8", (s, x) => s.op("Mul", [s.op("Mul", [linear(s, x), 1e-9]), 1e9])],
    ["weights beyond 65504", (s, x) => restored(s, s.op("MatMul", [x, s.floats([HIDDEN, 2], column(1e6))]), 1e6)],
    [
      "a column that would become zero",
      (s, x) => restored(s, s.op("MatMul", [x, s.floats([HIDDEN, 2], column(1e-9))]), 1e-9),
    ],
    [
      "a row that would become zero, in a transposed weight",
      (s, x) => {
        const flat = s.op("Reshape", [x, [-1, HIDDEN]]);
        return restored(s, s.op("Gemm", [flat, s.floats([2, HIDDEN], row(1e-9))], { transB: 1 }), 1e-9);
      },
    ],
  ])("keeps the node that reads %s in float32", async (_, draw) => {
    await compare((s, x, mask) => {
      const flat = s.op("Reshape", [draw(s, linear(s, x), mask), [-1]]);
      return s.op("Concat", [flat, s.op("Reshape", [linear(s, x), [-1]])], { axis: 0 });
    }, hiddenStates(1));
  });

  it("keeps positions beyond 2048 exact", async () => {
    const s = new Sketch();
    const x = s.input("x", [1, "length", HIDDEN]);
    const places = s.op("Range", [s.index(0), s.op("Gather", [s.op("Shape", [x]), s.index(1)]), s.index(1)]);
    const column = s.op("Unsqueeze", [s.op("Cast", [places], { to: 1 }), [1]]);
    const angles = s.op("MatMul", [
      column,
      s.floats(
        [1, HIDDEN],
        Array.from({ length: HIDDEN }, (_, i) => 4 ** -i),
      ),
    ]);
    s.output(s.op("Mul", [linear(s, x), s.op("Cos", [angles])]));
    inferShapes(s.graph);
    const { difference } = await halved(s.graph, [{ x: hiddenStates(1, [1, 2500, HIDDEN]) }]);
    expect(difference).toBeLessThan(MAX_DIFFERENCE);
  });
});
