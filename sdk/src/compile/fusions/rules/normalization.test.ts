import { describe, expect, it } from "vitest";
import { CAST, type Sketch, type SketchOperand } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import { rmsNormalizationFusion } from "./normalization.ts";

const HIDDEN = 8;
const EPSILON = 1e-6;

const input = (s: Sketch) => s.input("x", ["batch", "sequence", HIDDEN]);
const meanOf = (s: Sketch, x: Value) => s.op("ReduceMean", [x], { axes: [-1] });

interface Parts {
  readonly centred?: (s: Sketch, x: Value) => Value;
  readonly square?: (s: Sketch, centred: Value) => Value;
  readonly mean?: (s: Sketch, x: Value) => Value;
  readonly epsilon?: (s: Sketch) => SketchOperand;
  readonly quotient?: (s: Sketch, centred: Value, deviation: Value) => Value;
  readonly gain?: (s: Sketch) => Value | undefined;
  readonly offset?: (s: Sketch) => Value | undefined;
  readonly swapped?: boolean;
}

/** Draws layer normalization in single operators, as PyTorch exports it. `parts` replaces some of these operators. */
function decomposed(s: Sketch, x: Value, parts: Parts = {}): Value {
  const mean = parts.mean ?? meanOf;
  const commuted = (opType: string, a: Value, b: SketchOperand) => s.op(opType, parts.swapped ? [b, a] : [a, b]);
  const centred = parts.centred?.(s, x) ?? s.op("Sub", [x, mean(s, x)]);
  const square = parts.square?.(s, centred) ?? s.op("Pow", [centred, 2]);
  const variance = mean(s, square);
  const epsilon = parts.epsilon ? parts.epsilon(s) : EPSILON;
  const deviation = s.op("Sqrt", [epsilon === undefined ? variance : commuted("Add", variance, epsilon)]);
  const unit = parts.quotient?.(s, centred, deviation) ?? s.op("Div", [centred, deviation]);
  const gain = parts.gain ? parts.gain(s) : s.random([HIDDEN], 1);
  const scaled = gain ? commuted("Mul", unit, gain) : unit;
  const offset = parts.offset ? parts.offset(s) : s.random([HIDDEN]);
  return offset ? commuted("Add", scaled, offset) : scaled;
}

const fuse = (parts: Parts, opset?: number) =>
  rewritten((s) => s.output(decomposed(s, input(s), parts)), opset === undefined ? {} : { opset });

describe("layer normalization", () => {
  it.each<[string, Parts, number?]>([
    ["with the square as a power", {}],
    ["with the square as a product", { square: (s, c) => s.op("Mul", [c, c]) }],
    ["with axes as an input", { mean: (s, x) => s.op("ReduceMean", [x, [2]]) }, 18],
    ["over the last axis, counted from the front", { mean: (s, x) => s.op("ReduceMean", [x], { axes: [2] }) }],
    ["with swapped operands", { swapped: true }],
    [
      "with mean − x under the square",
      {
        square: (s, c) => {
          const x = c.producer?.inputs[0] as Value;
          const other = s.op("Sub", [meanOf(s, x), x]);
          return s.op("Mul", [other, other]);
        },
      },
    ],
    ["without beta", { offset: () => undefined }],
    [
      "normalized in float16, and cast before γ",
      {
        quotient: (s, centred, deviation) => {
          const half = [centred, deviation].map((value) => s.op("Cast", [value], { to: CAST.float16 }));
          return s.op("Cast", [s.op("Div", half)], { to: CAST.float32 });
        },
      },
    ],
    [
      "with gamma 1 and beta 0, as initialized",
      {
        gain: (s) => s.floats([HIDDEN], Array(HIDDEN).fill(1)),
        offset: (s) => s.floats([HIDDEN], Array(HIDDEN).fill(0)),
      },
    ],
    [
      "with gamma and beta of three axes",
      { gain: (s) => s.random([1, 1, HIDDEN], 1), offset: (s) => s.random([1, 1, HIDDEN]) },
    ],
    ["with the reciprocal of the deviation", { quotient: (s, c, d) => s.op("Mul", [c, s.op("Reciprocal", [d])]) }],
    ["with casts to the same type", { square: (s, c) => s.op("Pow", [s.op("Cast", [c], { to: CAST.float32 }), 2]) }],
    ["with GlobalAveragePool as the mean", { mean: (s, x) => s.op("GlobalAveragePool", [x]) }],
  ])("%s becomes one operator", async (_, parts, opset) => {
    const { counts, graph } = await fuse(parts, opset);
    expect(counts).toEqual({ LayerNormalization: 1 });
    const [node] = graph.nodes;
    expect(node?.float("epsilon")).toBe(Math.fround(EPSILON));
    expect(node?.inputs.slice(1).map((value) => value?.shape?.length)).toEqual(node?.inputs.slice(1).map(() => 1));
  });

  it.each([
    [
      "x · s + (β − mean · s)",
      (s: Sketch, mean: Value, scale: Value) => s.op("Sub", [s.random([HIDDEN]), s.op("Mul", [mean, scale])]),
    ],
    [
      "x · s + (−mean · s + β)",
      (s: Sketch, mean: Value, scale: Value) =>
        s.op("Add", [s.op("Mul", [s.op("Neg", [mean]), scale]), s.random([HIDDEN])]),
    ],
  ])("in the form of TensorFlow, %s, becomes one operator", async (_, shift) => {
    const { counts } = await rewritten((s) => {
      const x = input(s);
      const mean = s.op("GlobalAveragePool", [x]);
      const difference = s.op("Sub", [x, mean]);
      const variance = s.op("GlobalAveragePool", [s.op("Mul", [difference, difference])]);
      const inverse = s.op("Reciprocal", [s.op("Sqrt", [s.op("Add", [variance, EPSILON])])]);
      const scale = s.op("Mul", [inverse, s.random([HIDDEN], 1)]);
      s.output(s.op("Add", [s.op("Mul", [x, scale]), shift(s, mean, scale)]));
    });
    expect(counts).toEqual({ LayerNormalization: 1 });
  });

  it("that is already one operator stays", async () => {
    const { counts, trace } = await rewritten((s) =>
      s.output(
        s.op("LayerNormalization", [input(s), s.random([HIDDEN], 1), s.random([HIDDEN])], {
          axis: -1,
          epsilon: { float: 1e-12 },
        }),
      ),
    );
    expect(counts).toEqual({ LayerNormalization: 1 });
    expect([...trace.counts]).toEqual([]);
  });

  it.each<[string, Parts, string]>([
    [
      "over another axis",
      { mean: (s, x) => s.op("ReduceMean", [x], { axes: [1] }) },
      "is not a mean over the last axis",
    ],
    [
      "over two axes",
      { mean: (s, x) => s.op("ReduceMean", [x], { axes: [1, 2] }) },
      "is not a mean over the last axis",
    ],
    ["without epsilon", { epsilon: () => undefined }, "instead of"],
    ["without gamma", { gain: () => undefined }, ""],
    ["with a negative epsilon", { epsilon: () => -EPSILON }, "epsilon is not a positive number"],
    ["with an epsilon for each channel", { epsilon: (s) => s.random([HIDDEN], 1) }, "epsilon is not a positive number"],
    [
      "with a gamma for each token",
      { gain: (s) => s.input("gain", ["batch", "sequence", HIDDEN]) },
      "instead of a constant",
    ],
    ["with one gamma for all channels", { gain: (s) => s.random([1], 2) }, "not a vector as long as the last axis"],
    ["that subtracts another mean", { centred: (s, x) => s.op("Sub", [x, meanOf(s, s.op("Tanh", [x]))]) }, ""],
  ])("%s is not fused", async (_, parts, why) => {
    const found = await fuse(parts);
    expect(found.counts["LayerNormalization"]).toBeUndefined();
    if (why) expect(found.why("LayerNormalization").join("\n")).toContain(why);
  });

  it("of a value whose shape is unknown is not fused, and the reason says so", async () => {
    const { why } = await rewritten((s) => {
      const x = s.op("Hardmax", [input(s)]);
      s.output(decomposed(s, x));
    });
    expect(why("LayerNormalization").join()).toContain("has an input whose shape is unknown");
  });

  it("is not fused if another node reads an intermediate value", async () => {
    const { counts, why } = await rewritten((s) => {
      const x = input(s);
      const result = decomposed(s, x);
      s.output(result);
      const [unit] = result.producer?.inputs[0]?.producer?.inputs ?? [];
      s.output(unit as Value, "unit");
    });
    expect(counts["LayerNormalization"]).toBeUndefined();
    expect(why("LayerNormalization").join()).toContain("is also read by nodes outside the pattern");
  });
});

const WIDTH = 8;
const optimize = only(rmsNormalizationFusion);

const meanSquare = (s: Sketch, square: Value, axis = -1) => s.op("ReduceMean", [square], { axes: [axis] });
const squared = (s: Sketch, x: Value) => s.op("Pow", [x, 2]);
const root = (s: Sketch, mean: Value) => s.op("Sqrt", [s.op("Add", [mean, 1e-5])]);
const gain = (s: Sketch) => s.random([WIDTH], 1);

describe("RMSNorm", () => {
  it.each<[string, (s: Sketch, x: Value) => Value]>([
    [
      "γ · (x · 1/√…)",
      (s, x) => s.op("Mul", [gain(s), s.op("Mul", [x, s.op("Reciprocal", [root(s, meanSquare(s, squared(s, x)))])])]),
    ],
    ["(x / √…) · γ", (s, x) => s.op("Mul", [s.op("Div", [x, root(s, meanSquare(s, s.op("Mul", [x, x])))]), gain(s)])],
    ["x · (γ / √…)", (s, x) => s.op("Mul", [x, s.op("Div", [gain(s), root(s, meanSquare(s, squared(s, x)))])])],
  ])("becomes one operator: %s", async (_, norm) => {
    const { counts, graph } = await rewritten((s) => s.output(norm(s, s.input("x", ["batch", "sequence", WIDTH]))), {
      optimize,
    });
    expect(counts).toEqual({ SimplifiedLayerNormalization: 1 });
    expect(graph.sorted()[0]?.float("epsilon")).toBeCloseTo(1e-5);
  });

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["over another axis", (s, x) => s.op("Mul", [s.op("Div", [x, root(s, meanSquare(s, squared(s, x), 1))]), gain(s)])],
    [
      "of the mean of cubes",
      (s, x) => s.op("Mul", [s.op("Div", [x, root(s, meanSquare(s, s.op("Pow", [x, 4])))]), gain(s)]),
    ],
    [
      "with the root of another tensor",
      (s, x) => s.op("Mul", [s.op("Div", [x, root(s, meanSquare(s, squared(s, s.op("Tanh", [x]))))]), gain(s)]),
    ],
  ])("stays as it is %s", async (_, norm) => {
    const { counts } = await rewritten((s) => s.output(norm(s, s.input("x", ["batch", "sequence", WIDTH]))), {
      optimize,
    });
    expect(counts).not.toHaveProperty("SimplifiedLayerNormalization");
  });

  it("says that gamma must be a vector", async () => {
    const { why } = await rewritten(
      (s) => {
        const x = s.input("x", ["batch", "sequence", WIDTH]);
        s.output(s.op("Mul", [s.op("Div", [x, root(s, meanSquare(s, squared(s, x)))]), s.random([1, 1, WIDTH], 1)]));
      },
      { optimize },
    );
    expect(why("SimplifiedLayerNormalization")).toEqual([
      expect.stringContaining("gamma is not a vector as long as the last axis"),
    ]);
  });

  it("takes in the sum before it", async () => {
    const { counts } = await rewritten((s) => {
      const shape = ["batch", "sequence", WIDTH];
      const x = s.input("x", shape);
      const sum = s.op("Add", [s.op("Add", [s.op("MatMul", [x, s.random([WIDTH, WIDTH])]), s.random([WIDTH])]), x]);
      s.output(s.op("Mul", [s.op("Div", [sum, root(s, meanSquare(s, s.op("Mul", [sum, sum])))]), gain(s)]));
      s.output(sum, "sum");
    });
    expect(counts).toEqual({ MatMul: 1, SkipSimplifiedLayerNormalization: 1 });
  });
});
