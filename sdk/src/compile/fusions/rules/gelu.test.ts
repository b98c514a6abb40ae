import { describe, expect, it } from "vitest";
import { CAST, type Sketch, type SketchOperand } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

const HIDDEN = 4;
const SLOPE = Math.sqrt(2 / Math.PI);
const input = (s: Sketch) => s.input("x", ["batch", "sequence", HIDDEN]);

type Draw = (s: Sketch, x: Value) => Value;
const fuse = (draw: Draw, opset = 17) => rewritten((s) => s.output(draw(s, input(s))), { opset });

const gate = (s: Sketch, x: Value, constant = Math.SQRT2) =>
  s.op("Add", [s.op("Erf", [s.op("Div", [x, constant])]), 1]);
const mul = (s: Sketch, a: SketchOperand, b: SketchOperand) => s.op("Mul", [a, b]);

describe("gelu by the error function", () => {
  it.each<[string, Draw]>([
    ["(x · gate) · ½", (s, x) => mul(s, mul(s, x, gate(s, x)), 0.5)],
    ["(x · ½) · gate", (s, x) => mul(s, mul(s, x, 0.5), gate(s, x))],
    ["x · (½ · gate)", (s, x) => mul(s, x, mul(s, 0.5, gate(s, x)))],
    ["gate · (½ · x)", (s, x) => mul(s, gate(s, x), mul(s, 0.5, x))],
    ["(x · gate) / 2", (s, x) => s.op("Div", [mul(s, x, gate(s, x)), 2])],
    ["x · √½ under erf", (s, x) => mul(s, mul(s, x, 0.5), s.op("Add", [1, s.op("Erf", [mul(s, Math.SQRT1_2, x)])]))],
    ["√2 with four decimals", (s, x) => mul(s, mul(s, x, gate(s, x, Number(Math.SQRT2.toFixed(4)))), 0.5)],
  ])("%s becomes Gelu", async (_, draw) => {
    expect((await fuse(draw)).counts).toEqual({ Gelu: 1 });
  });

  it.each<[string, Draw, string]>([
    ["0.6 instead of ½", (s, x) => mul(s, mul(s, x, 0.6), gate(s, x)), "0.6"],
    ["1.5 instead of √2", (s, x) => mul(s, mul(s, x, 0.5), gate(s, x, 1.5)), "found 1.5 instead of 1.414"],
    ["1 − erf", (s, x) => mul(s, mul(s, x, 0.5), s.op("Sub", [1, s.op("Erf", [s.op("Div", [x, Math.SQRT2])])])), ""],
    ["another value under erf", (s, x) => mul(s, mul(s, x, 0.5), gate(s, s.op("Tanh", [x]))), ""],
  ])("%s is not fused", async (_, draw, why) => {
    const found = await fuse(draw);
    expect(found.counts["Gelu"]).toBeUndefined();
    expect(found.why("Gelu").join("\n")).toContain(why);
  });

  it("is not fused if ½ adds an axis", async () => {
    const { counts } = await fuse((s, x) => mul(s, mul(s, x, gate(s, x)), s.floats([2, 1, 1, 1], [0.5, 0.5])));
    expect(counts["Gelu"]).toBeUndefined();
  });
});

const cube = (s: Sketch, x: Value) => mul(s, mul(s, x, x), x);
const outer = (s: Sketch, x: Value, inner: Value) => mul(s, mul(s, 0.5, x), s.op("Add", [1, s.op("Tanh", [inner])]));

describe("gelu by tanh", () => {
  const sum = (s: Sketch, x: Value, third: Value, slope = SLOPE, cubic = 0.044715) =>
    outer(s, x, mul(s, slope, s.op("Add", [x, mul(s, cubic, third)])));
  it.each<[string, Draw]>([
    ["x³ as a power", (s, x) => sum(s, x, s.op("Pow", [x, 3]))],
    ["x³ as products", (s, x) => sum(s, x, cube(s, x))],
    ["x² · x", (s, x) => sum(s, x, mul(s, s.op("Pow", [x, 2]), x))],
    [
      "x · (1 + c · x²)",
      (s, x) => outer(s, x, mul(s, mul(s, x, SLOPE), s.op("Add", [1, mul(s, mul(s, x, 0.044715), x)]))),
    ],
    ["casts to the same type", (s, x) => sum(s, x, s.op("Pow", [s.op("Cast", [x], { to: CAST.float32 }), 3]))],
    ["a slope with four digits", (s, x) => sum(s, x, s.op("Pow", [x, 3]), 0.7979)],
  ])("with %s becomes FastGelu", async (_, draw) => {
    expect((await fuse(draw)).counts).toEqual({ FastGelu: 1 });
  });

  it.each<[string, Draw]>([
    ["x² instead of x³", (s, x) => sum(s, x, s.op("Pow", [x, 2]))],
    ["another slope", (s, x) => sum(s, x, s.op("Pow", [x, 3]), 0.9)],
    ["another cubic term", (s, x) => sum(s, x, s.op("Pow", [x, 3]), SLOPE, 0.05)],
  ])("with %s is not fused", async (_, draw) => {
    expect((await fuse(draw)).counts["FastGelu"]).toBeUndefined();
  });
});

describe("Gelu of opset 20", () => {
  it("becomes FastGelu if its approximate attribute is tanh", async () => {
    expect((await fuse((s, x) => s.op("Gelu", [x], { approximate: "tanh" }), 20)).counts).toEqual({ FastGelu: 1 });
  });

  it("stays if its approximate attribute is none", async () => {
    const { graph } = await fuse((s, x) => s.op("Gelu", [x], { approximate: "none" }), 20);
    expect([...graph.nodes].map(({ opType, domain }) => domain + opType)).toEqual(["Gelu"]);
  });
});

describe("gelu by the sigmoid function", () => {
  const quick =
    (slope: number): Draw =>
    (s, x) =>
      mul(s, x, s.op("Sigmoid", [mul(s, x, slope)]));
  it("becomes QuickGelu", async () => {
    expect((await fuse(quick(1.702))).counts).toEqual({ QuickGelu: 1 });
  });

  it("is not fused with another slope", async () => {
    const found = await fuse(quick(1.6));
    expect(found.counts["QuickGelu"]).toBeUndefined();
    expect(found.why("QuickGelu").join()).toContain("instead of 1.702");
  });
});

describe("a bias before gelu", () => {
  const exact = (s: Sketch, x: Value) => mul(s, mul(s, x, gate(s, x)), 0.5);
  const tanh = (s: Sketch, x: Value) =>
    outer(s, x, mul(s, SLOPE, s.op("Add", [x, mul(s, 0.044715, s.op("Pow", [x, 3]))])));
  const bias = (s: Sketch) => s.random([HIDDEN]);

  it.each<[string, Draw, string, number?]>([
    ["x + b", (s, x) => exact(s, s.op("Add", [x, bias(s)])), "BiasGelu"],
    ["b + x", (s, x) => exact(s, s.op("Add", [bias(s), x])), "BiasGelu"],
    ["b as an input", (s, x) => exact(s, s.op("Add", [x, s.input("bias", [HIDDEN])])), "BiasGelu"],
    ["x + b, approximated", (s, x) => tanh(s, s.op("Add", [x, bias(s)])), "FastGelu"],
    ["x + b, opset 20", (s, x) => s.op("Gelu", [s.op("Add", [x, bias(s)])]), "BiasGelu", 20],
  ])("%s becomes an input of the operator", async (_, draw, opType, opset) => {
    const { counts, graph } = await fuse(draw, opset);
    expect(counts).toEqual({ [opType]: 1 });
    expect([...graph.nodes][0]?.inputs).toHaveLength(2);
  });

  it.each<[string, (s: Sketch) => Value]>([
    ["of one element", (s) => s.random([1])],
    ["of more axes", (s) => s.random([1, 1, HIDDEN])],
    ["for every token", (s) => s.input("other", ["batch", "sequence", HIDDEN])],
    ["that widens the result", (s) => s.input("wide", ["batch", "batch", "sequence", HIDDEN])],
  ])("%s stays a separate Add", async (_, bias) => {
    const { counts } = await fuse((s, x) => exact(s, s.op("Add", [x, bias(s)])));
    expect(counts).toEqual({ Add: 1, Gelu: 1 });
  });

  it("stays a separate Add if another node reads the sum", async () => {
    const { counts } = await fuse((s, x) => {
      const sum = s.op("Add", [x, bias(s)]);
      s.output(sum, "sum");
      return exact(s, sum);
    });
    expect(counts).toEqual({ Add: 1, Gelu: 1 });
  });
});
