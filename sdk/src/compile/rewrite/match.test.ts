import { describe, expect, it } from "vitest";
import { CAST, Sketch, type SketchOperand } from "#test/fixtures/sketch.ts";
import type { Value } from "../graph/node.ts";
import { uniformValue } from "../graph/tensor-math.ts";
import { CONSTANT_TOLERANCE, match, type NearMiss } from "./match.ts";
import {
  any,
  bind,
  type Condition,
  constant,
  minus,
  oneOf,
  op,
  over,
  type Pattern,
  product,
  sum,
  through,
} from "./pattern.ts";

type Draw = (s: Sketch, x: Value, y: Value) => Value;

function attempt(pattern: Pattern, draw: Draw) {
  const sketch = new Sketch();
  const [x, y] = [sketch.input("x", [4]), sketch.input("y", [4])];
  const value = draw(sketch, x, y);
  sketch.output(value);
  const miss: NearMiss = { depth: 0, node: undefined, why: "" };
  return { found: match(pattern, value, miss), miss, x, y };
}
const isMatch = (pattern: Pattern, draw: Draw) => attempt(pattern, draw).found !== undefined;
const binary = (opType: string, a: SketchOperand, b: SketchOperand) => (s: Sketch) => s.op(opType, [a, b]);

const [x, y, z] = [any("x"), any("y"), any("z")];

describe("a sum", () => {
  const pattern = sum(op("Tanh", [x]), 2, minus(y));
  it.each<[string, Draw]>([
    ["(t + 2) − y", (s, x, y) => s.op("Sub", [s.op("Add", [s.op("Tanh", [x]), 2]), y])],
    ["(2 − y) + t", (s, x, y) => s.op("Add", [s.op("Sub", [2, y]), s.op("Tanh", [x])])],
    ["t − (y − 2)", (s, x, y) => s.op("Sub", [s.op("Tanh", [x]), s.op("Sub", [y, 2])])],
    ["t − (y + −2)", (s, x, y) => s.op("Sub", [s.op("Tanh", [x]), s.op("Add", [y, -2])])],
    ["(t − y) − −2", (s, x, y) => s.op("Sub", [s.op("Sub", [s.op("Tanh", [x]), y]), -2])],
    ["−y + (2 + t)", (s, x, y) => s.op("Add", [s.op("Neg", [y]), s.op("Add", [2, s.op("Tanh", [x])])])],
    ["(t + 2) + (0 − y)", (s, x, y) => s.op("Add", [s.op("Add", [s.op("Tanh", [x]), 2]), s.op("Sub", [0, y])])],
    ["−(y − (t + 2))", (s, x, y) => s.op("Neg", [s.op("Sub", [y, s.op("Add", [s.op("Tanh", [x]), 2])])])],
  ])("is recognised as %s", (_, draw) => {
    const { found, x, y } = attempt(pattern, draw);
    expect(found?.values.get("x")).toBe(x);
    expect(found?.values.get("y")).toBe(y);
  });

  it.each<[string, Draw]>([
    ["(t + 2) + y", (s, x, y) => s.op("Add", [s.op("Add", [s.op("Tanh", [x]), 2]), y])],
    ["(t − 2) − y", (s, x, y) => s.op("Sub", [s.op("Sub", [s.op("Tanh", [x]), 2]), y])],
    ["t − y", (s, x, y) => s.op("Sub", [s.op("Tanh", [x]), y])],
    ["(2 − t) − y", (s, x, y) => s.op("Sub", [s.op("Sub", [2, s.op("Tanh", [x])]), y])],
  ])("is not found in %s", (_, draw) => {
    expect(isMatch(pattern, draw)).toBe(false);
  });
});

describe("a product", () => {
  const pattern = product(op("Tanh", [x]), 0.5, over(y));
  it.each<[string, Draw]>([
    ["(t / y) · 0.5", (s, x, y) => s.op("Mul", [s.op("Div", [s.op("Tanh", [x]), y]), 0.5])],
    ["t / (y · 2)", (s, x, y) => s.op("Div", [s.op("Tanh", [x]), s.op("Mul", [y, 2])])],
    ["(0.5 / y) · t", (s, x, y) => s.op("Mul", [s.op("Div", [0.5, y]), s.op("Tanh", [x])])],
    [
      "(t / y) · 0.5, with 1 / y as a quotient",
      (s, x, y) => s.op("Mul", [s.op("Mul", [s.op("Tanh", [x]), 0.5]), s.op("Div", [1, y])]),
    ],
    ["(t / 2) · 1/y", (s, x, y) => s.op("Mul", [s.op("Div", [s.op("Tanh", [x]), 2]), s.op("Reciprocal", [y])])],
  ])("is recognised as %s", (_, draw) => {
    expect(isMatch(pattern, draw)).toBe(true);
  });

  it("matches small powers", () => {
    const cube = product(x, x, x);
    expect(isMatch(cube, (s, x) => s.op("Pow", [x, 3]))).toBe(true);
    expect(isMatch(cube, (s, x) => s.op("Mul", [s.op("Mul", [x, x]), x]))).toBe(true);
    expect(isMatch(cube, (s, x) => s.op("Mul", [x, s.op("Pow", [x, 2])]))).toBe(true);
    expect(isMatch(cube, (s, x) => s.op("Pow", [x, 2]))).toBe(false);
    expect(isMatch(cube, (s, x, y) => s.op("Mul", [s.op("Mul", [x, y]), x]))).toBe(false);
  });
});

describe("a number in a pattern", () => {
  it.each([
    ["matches itself", 1.702, true],
    ["matches within the tolerance", 1.702 * (1 + 0.99 * CONSTANT_TOLERANCE), true],
    ["does not match beyond the tolerance", 1.702 * (1 + 1.01 * CONSTANT_TOLERANCE), false],
    ["does not match its negative", -1.702, false],
    ["does not match its inverse", 1 / 1.702, false],
  ])("%s", (_, written, expected) => {
    expect(isMatch(product(1.702, x), (s, x) => s.op("Mul", [x, written]))).toBe(expected);
  });

  it("matches its inverse as a divisor", () => {
    expect(isMatch(product(Math.SQRT1_2, x), (s, x) => s.op("Div", [x, Math.SQRT2]))).toBe(true);
    expect(isMatch(product(Math.SQRT1_2, x), (s, x) => s.op("Div", [x, Math.SQRT1_2]))).toBe(false);
  });

  it("matches a constant with the number in all elements", () => {
    expect(isMatch(sum(x, 2), (s, x) => s.op("Add", [x, s.floats([4], [2, 2, 2, 2])]))).toBe(true);
    expect(isMatch(sum(x, 2), (s, x) => s.op("Add", [x, s.floats([4], [2, 2, 2, 3])]))).toBe(false);
    expect(isMatch(sum(x, 2), (s, x) => s.op("Add", [x, s.floats([0], [])]))).toBe(false);
  });

  it("matches exactly if it is 0", () => {
    expect(isMatch(op("Add", [x, 0]), (s, x) => s.op("Add", [x, 1e-12]))).toBe(false);
  });
});

describe("a name", () => {
  it("matches one value everywhere", () => {
    expect(isMatch(op("Add", [x, x]), (_, x) => binary("Add", x, x)(new Sketch()))).toBe(true);
    expect(isMatch(op("Add", [x, x]), (_, x, y) => binary("Add", x, y)(new Sketch()))).toBe(false);
  });

  it("is tried with the other operand if the first does not match", () => {
    const { found, y } = attempt(product(x, op("Sigmoid", [x])), (s, x, y) =>
      s.op("Mul", [s.op("Sigmoid", [s.op("Add", [x, y])]), s.op("Add", [x, y])]),
    );
    expect(found).toBeUndefined();
    const again = attempt(product(x, op("Sigmoid", [x])), (s, _, y) => s.op("Mul", [s.op("Sigmoid", [y]), y]));
    expect(again.found?.values.get("x")).toBe(again.y);
    expect(y.name).toBe("y");
  });

  it("of a constant matches only constants", () => {
    expect(isMatch(op("Add", [x, constant("c")]), (s, x) => s.op("Add", [x, s.random([4])]))).toBe(true);
    expect(isMatch(op("Add", [x, constant("c")]), (s, x, y) => s.op("Add", [x, y]))).toBe(false);
  });

  it("can be bound to a sub-pattern", () => {
    const { found } = attempt(op("Tanh", [bind("inner", op("Add", [x, y]))]), (s, x, y) =>
      s.op("Tanh", [s.op("Add", [x, y], {}, { name: "sum" })]),
    );
    expect(found?.values.get("inner")?.name).toBe("sum");
  });
});

describe("an operator", () => {
  it("matches only in its domain", () => {
    const gelu: Draw = (s, x) => s.op("Gelu", [x], {}, { domain: "com.microsoft" });
    expect(isMatch(op("Gelu", [x], { domain: "com.microsoft" }), gelu)).toBe(true);
    expect(isMatch(op("Gelu", [x]), gelu)).toBe(false);
  });

  it("is part of a sum only in ONNX's own domain", () => {
    expect(isMatch(sum(x, y), (s, x, y) => s.op("Add", [x, y], {}, { domain: "other" }))).toBe(false);
  });

  it("can have a condition on its attributes", () => {
    const pattern = op("Softmax", [x], { where: (node) => node.int("axis") === 1 });
    expect(isMatch(pattern, (s, x) => s.op("Softmax", [x], { axis: 1 }))).toBe(true);
    expect(isMatch(pattern, (s, x) => s.op("Softmax", [x], { axis: 2 }))).toBe(false);
  });

  it.each<[string, Condition, string]>([
    ["the reason of its condition", () => "has no axis", "has no axis"],
    ["its attributes and inputs", () => false, "has other attributes or inputs than the pattern"],
  ])("that does not match says so by %s", (_, where, why) => {
    const { miss } = attempt(op("Neg", [op("Softmax", [x], { where })]), (s, x) =>
      s.op("Neg", [s.op("Softmax", [x], {}, { name: "rows" })]),
    );
    expect(miss.why).toBe(`Softmax rows ${why}`);
  });

  it("matches only by its first output", () => {
    const second: Draw = (s, x) => s.node("Split", [x], {}, { outputs: ["a", "b"] }).outputs[1] as Value;
    expect(isMatch(op("Split", [x]), second)).toBe(false);
  });

  it("must have all inputs of the pattern", () => {
    expect(isMatch(op("Clip", [x, y]), (s, x) => s.op("Clip", [x]))).toBe(false);
  });
});

describe("alternatives", () => {
  it("are tried in order, with backtracking", () => {
    const pattern = op("Add", [oneOf(op("Tanh", [x]), op("Tanh", [op("Neg", [x])])), x]);
    expect(isMatch(pattern, (s, x) => s.op("Add", [s.op("Tanh", [x]), x]))).toBe(true);
    expect(isMatch(pattern, (s, x) => s.op("Add", [s.op("Tanh", [s.op("Neg", [x])]), x]))).toBe(true);
    expect(isMatch(pattern, (s, x, y) => s.op("Add", [s.op("Tanh", [y]), x]))).toBe(false);
  });

  it("`through` matches across any number of operators", () => {
    const pattern = op("Tanh", [through(["Cast"], op("Neg", [z]))]);
    const casts =
      (count: number): Draw =>
      (s, x) => {
        let value = s.op("Neg", [x]);
        for (let i = 0; i < count; i++) value = s.op("Cast", [value], { to: CAST.float32 });
        return s.op("Tanh", [value]);
      };
    expect([0, 1, 3].map((count) => isMatch(pattern, casts(count)))).toEqual([true, true, true]);
    expect(isMatch(pattern, (s, x) => s.op("Tanh", [s.op("Abs", [s.op("Neg", [x])])]))).toBe(false);
  });
});

describe("a near miss", () => {
  const pattern = product(x, op("Sigmoid", [product(1.702, x)]));

  it("names the node that does not fit, and the reason", () => {
    const { found, miss } = attempt(pattern, (s, x) =>
      s.op("Mul", [x, s.op("Sigmoid", [s.op("Mul", [x, 1.5], {}, { name: "slope" })])]),
    );
    expect(found).toBeUndefined();
    expect(miss.why).toBe("found 1.5 instead of 1.702");
  });

  it("is the attempt that matched the most nodes", () => {
    const { miss } = attempt(oneOf(op("Mul", [op("Tanh", [x]), y]), pattern), (s, x, y) =>
      s.op("Mul", [s.op("Sigmoid", [s.op("Exp", [y], {}, { name: "wrong" })]), x]),
    );
    expect(miss.node?.name).toBe("wrong");
    expect(miss.depth).toBe(2);
  });

  it("is not recorded if even the root does not match", () => {
    expect(attempt(pattern, (s, x) => s.op("Tanh", [x])).miss.depth).toBe(0);
  });
});

describe("uniformValue", () => {
  it("is undefined for values that are not constant, not uniform, or large", () => {
    const s = new Sketch();
    expect(uniformValue(s.input("x", [1]))).toBeUndefined();
    expect(uniformValue(s.floats([2], [1, 2]))).toBeUndefined();
    expect(uniformValue(s.floats([5000], Array(5000).fill(1)))).toBeUndefined();
    expect(uniformValue(s.index(-3))).toBe(-3);
  });
});
