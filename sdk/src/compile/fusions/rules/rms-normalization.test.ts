import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import { rmsNormalizationFusion } from "./rms-normalization.ts";

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
