import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { CAST, Sketch } from "#test/fixtures/sketch.ts";
import { compareWithOnnxruntime, type Draw, type OracleOptions } from "#test/oracles/shape-oracle.ts";
import type { Value } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";
import { inferShapes } from "../infer-shapes.ts";
import { elementwiseRules } from "./elementwise.ts";

const AGREES = { wrong: [], unknown: [] };

const unary =
  (opType: string): Draw =>
  (s) =>
    s.op(opType, [s.input("x", ["b", 3, "s"])]);
/** Draws an operator on two inputs. Each input is broadcast along an axis of the other input. */
const broadcasting =
  (opType: string, dtype: "float32" | "bool" | "int64" = "float32"): Draw =>
  (s) =>
    s.op(opType, [s.input("x", ["b", 1, "s"], dtype), s.input("y", [3, 1], dtype)]);

const floats =
  "Sqrt Exp Log Erf Tanh Sigmoid Relu Gelu Reciprocal Sin Cos Ceil Floor Round Sign Softplus LeakyRelu Elu \
Softsign Mish HardSigmoid HardSwish Celu Selu Neg Abs IsNaN IsInf Identity".split(" ");
const floatPairs = "Add Sub Mul Div Max Min Pow PRelu Equal Less Greater LessOrEqual GreaterOrEqual".split(" ");
const booleanPairs = "And Or Xor".split(" ");
const integerPairs = "BitwiseAnd BitwiseOr Add Mul Max".split(" ");

type Case = [opType: string, draw: Draw, options?: OracleOptions];
const cases: Case[] = [
  ...floats.map((opType): Case => [opType, unary(opType)]),
  ...floatPairs.filter((opType) => opType !== "PRelu").map((opType): Case => [opType, broadcasting(opType)]),
  ...booleanPairs.map((opType): Case => [opType, broadcasting(opType, "bool")]),
  ...integerPairs.map((opType): Case => [opType, broadcasting(opType, "int64")]),
  ["PRelu", (s) => s.op("PRelu", [s.input("x", ["b", 3, "s"]), s.random([3, 1])])],
  ["Swish", unary("Swish"), { opset: 24 }],
  ["Not", (s) => s.op("Not", [s.input("x", ["b"], "bool")])],
  ["BitwiseNot", (s) => s.op("BitwiseNot", [s.input("x", ["b"], "int32")])],
  ["Mod", (s) => s.op("Mod", [s.input("x", ["b", "s"], "int64"), [3]])],
  ["Max", (s) => s.op("Max", [s.input("x", ["b", 1]), s.input("y", ["s"]), s.random([1, 1, 1])])],
  ["Where", (s) => s.op("Where", [s.input("c", ["b", 1], "bool"), s.input("x", ["s"]), 0])],
  ["Cast", (s) => s.op("Cast", [s.input("x", ["b", "s"], "bool")], { to: CAST.float16 })],
  ["CastLike", (s) => s.op("CastLike", [s.input("x", ["b", "s"], "int64"), s.random([1])])],
];

describe("elementwise rules", () => {
  it.each(cases)("%s", async (_, draw, options) => {
    expect(await compareWithOnnxruntime(draw, { opset: 20, ...options })).toEqual(AGREES);
  });

  it("are all compared with onnxruntime", () => {
    expect(new Set(cases.map(([opType]) => opType))).toEqual(new Set(Object.keys(elementwiseRules)));
  });
});

/** A vector, or a scalar if the length is undefined. */
interface Operand {
  readonly value: Value;
  readonly length: number | undefined;
}

/** One operation on sizes: the index of an operator, the indices of its two operands, and a constant. */
const step = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99), fc.integer({ min: -9, max: 9 }));
const steps = fc.array(step, { minLength: 4, maxLength: 14 });

const arithmetic = ["Add", "Sub", "Mul", "Max", "Min"];
const comparisons = ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"];

/** Adds size arithmetic as exporters write it: all values are small int64 vectors or scalars. */
function computeSizes(s: Sketch, program: readonly (readonly [number, number, number, number])[]): void {
  const shape = (value: Value, length: number): Operand => ({ value: s.op("Shape", [value]), length });
  const x = s.input("x", ["b", 3, "s"]);
  const pool: Operand[] = [
    shape(x, 3),
    shape(s.input("y", ["s", "b"]), 2),
    { value: s.op("Size", [x]), length: undefined },
  ];
  for (const [opType, left, right, number] of program) {
    const a = pool[left % pool.length] as Operand;
    const same = pool.filter(({ length = 1 }) => length === (a.length ?? 1) || length === 1 || (a.length ?? 1) === 1);
    const b = same[right % same.length] as Operand;
    const both = a.length === undefined ? b.length : b.length === undefined ? a.length : Math.max(a.length, b.length);
    const pair = [a.value, b.value];
    const result = ((): Operand | undefined => {
      switch (opType % 12) {
        case 0:
        case 1:
          return { value: s.op(arithmetic[right % arithmetic.length] as string, pair), length: both };
        case 2:
          return { value: s.op("Div", [a.value, s.index(1 + Math.abs(number))]), length: a.length };
        case 3: {
          const condition = s.op(comparisons[number + 9 - 5 * Math.floor((number + 9) / 5)] as string, pair);
          const negated = right % 2 === 0 ? s.op("Not", [condition]) : condition;
          return { value: s.op("Where", [negated, ...pair]), length: both };
        }
        case 4: {
          const atMost = s.op("LessOrEqual", pair);
          const either = s.op(right % 2 === 0 ? "And" : "Or", [atMost, s.op("Equal", pair)]);
          return { value: s.op("Cast", [either], { to: CAST.int64 }), length: both };
        }
        case 5:
          if (a.length === undefined) return { value: s.op("Unsqueeze", [a.value, [0]]), length: 1 };
          return a.length === 1 ? { value: s.op("Squeeze", [a.value, [-1]]), length: undefined } : undefined;
        case 6:
          if (a.length === undefined || a.length === 0) return undefined;
          return { value: s.op("Gather", [a.value, s.index(right % 2 ? -1 : left % a.length)]), length: undefined };
        case 7: {
          if (a.length === undefined || b.length === undefined || a.length + b.length > 6) return undefined;
          return { value: s.op("Concat", pair, { axis: -1 }), length: a.length + b.length };
        }
        case 8:
          if (a.length === undefined) return undefined;
          return { value: s.op("ReduceProd", [a.value], { keepdims: right % 2 }), length: right % 2 ? 1 : undefined };
        case 9: {
          const narrow = s.op("Cast", [a.value], { to: CAST.int32 });
          return { value: s.op("Cast", [s.op("Neg", [narrow])], { to: CAST.int64 }), length: a.length };
        }
        case 10:
          return { value: s.op("Mod", [s.op("Abs", [a.value]), s.index(1 + Math.abs(number))]), length: a.length };
        default: {
          if (a.length === undefined) return undefined;
          const all = Array.from({ length: a.length }, (_, i) => i).slice(number);
          return { value: s.op("Slice", [a.value, [number], [99]]), length: all.length };
        }
      }
    })();
    if (result) pool.push(result);
  }
}

describe("contents of size vectors", () => {
  it("equal the results of onnxruntime for random size arithmetic", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (program) => {
        expect(await compareWithOnnxruntime((s) => computeSizes(s, program))).toEqual(AGREES);
      }),
      seeded(150),
    );
  });

  /** Returns the inferred content of the output. */
  function contentOf(draw: (s: Sketch) => Value): string | undefined {
    const s = new Sketch();
    const value = draw(s);
    inferShapes(s.graph);
    return value.content?.join();
  }
  const sizesOf = (s: Sketch) => s.op("Shape", [s.input("x", ["b", "s"])]);

  it("are polynomials of the sizes of inputs", () => {
    expect(contentOf((s) => s.op("Mul", [sizesOf(s), [4]]))).toBe("4*b,4*s");
    expect(contentOf((s) => s.op("Sub", [sizesOf(s), [1]]))).toBe("-1+b,-1+s");
    expect(contentOf((s) => s.op("Div", [s.op("Mul", [sizesOf(s), [8]]), [4]]))).toBe("2*b,2*s");
  });

  it("include a comparison only if it has the same result for all sizes", () => {
    const chosen = (condition: (s: Sketch, sizes: Value) => Value) =>
      contentOf((s) => {
        const sizes = sizesOf(s);
        return s.op("Where", [condition(s, sizes), [7, 7], sizes]);
      });
    expect(chosen((s, sizes) => s.op("Equal", [sizes, [-1]]))).toBe("b,s");
    expect(chosen((s, sizes) => s.op("Equal", [sizes, sizes]))).toBe("7,7");
    expect(chosen((s, sizes) => s.op("GreaterOrEqual", [sizes, [0]]))).toBe("7,7");
    expect(chosen((s, sizes) => s.op("Greater", [sizes, [0]]))).toBeUndefined();
    expect(chosen((s, sizes) => s.op("Equal", [sizes, [0]]))).toBeUndefined();
    expect(chosen((s, sizes) => s.op("Equal", [sizes, [1]]))).toBeUndefined();
  });

  it.each([
    ["And", "1,0,0,0"],
    ["Or", "1,1,1,0"],
  ])("of booleans follow %s", (opType, expected) => {
    const truth = (s: Sketch, ...values: number[]) => s.op("Equal", [values, [1]]);
    expect(contentOf((s) => s.op(opType, [truth(s, 1, 1, 0, 0), truth(s, 1, 0, 1, 0)]))).toBe(expected);
  });

  it("are empty for an empty vector", () => {
    expect(contentOf((s) => s.op("Mul", [s.op("Shape", [s.input("x", [])]), s.index(2)]))).toBe("");
  });

  const INT64_MAX = tensor("int64", [1], BigInt64Array.of(2n ** 63n - 1n));

  it("keep the largest integer, but drop results that are not exact", () => {
    expect(contentOf((s) => s.op("Concat", [s.constant(INT64_MAX), [1]], { axis: 0 }))).toBe(`${2 ** 63},1`);
    expect(contentOf((s) => s.op("Sub", [s.constant(INT64_MAX), [1]]))).toBeUndefined();
    expect(contentOf((s) => s.op("Mul", [[2 ** 40], [2 ** 40]]))).toBeUndefined();
  });

  it("are dropped if a narrower type would overflow", () => {
    expect(contentOf((s) => s.op("Cast", [[2 ** 31 - 1]], { to: CAST.int32 }))).toBe(`${2 ** 31 - 1}`);
    expect(contentOf((s) => s.op("Cast", [[2 ** 31]], { to: CAST.int32 }))).toBeUndefined();
    const UINT8 = 2;
    expect(contentOf((s) => s.op("Cast", [[300]], { to: UINT8 }))).toBeUndefined();
    expect(contentOf((s) => s.op("Cast", [[3]], { to: CAST.bool }))).toBeUndefined();
  });
});
