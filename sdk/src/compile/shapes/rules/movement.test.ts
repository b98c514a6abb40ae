import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { CAST, Sketch, type SketchAttribute } from "#test/fixtures/sketch.ts";
import { compareWithOnnxruntime, type Draw, type OracleOptions } from "#test/oracles/shape-oracle.ts";
import type { Value } from "../../graph/node.ts";
import { int64s, tensor } from "../../graph/tensor.ts";
import { inferShapes } from "../infer-shapes.ts";
import { movementRules } from "./movement.ts";

const AGREES = { wrong: [], unknown: [] };

/** Draw inputs of rank 3 and 4 with some dynamic sizes. */
const x3 = (s: Sketch) => s.input("x", ["b", 3, "s"]);
const x4 = (s: Sketch) => s.input("x", ["b", 1, "s", 6]);
const fixed = (s: Sketch) => s.input("f", [4, 5, 10]);

/** Draws an operator on one tensor, with constants as its other inputs. */
const on =
  (
    input: (s: Sketch) => Value,
    opType: string,
    more: readonly number[][] = [],
    settings?: Record<string, SketchAttribute>,
  ) =>
  (s: Sketch) =>
    s.op(opType, [input(s), ...more], settings);

const int64 = (...values: bigint[]) => tensor("int64", [values.length], BigInt64Array.from(values));
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
/** Slice ends that exporters write for "to the end". */
const ENDS = [INT64_MAX, 2n ** 31n - 1n, 1_000_000_000n];
const shapeOf = (s: Sketch, value: Value, ...axes: number[]) => s.op("Gather", [s.op("Shape", [value]), axes]);

const parts = (count: number) => ({ outputs: Array.from({ length: count }, (_, i) => `part${i}`) });

const cases: [opType: string, what: string, draw: Draw, options?: OracleOptions][] = [
  ["Shape", "whole", on(x3, "Shape")],
  ["Shape", "of a scalar", (s) => s.op("Shape", [s.input("x", [])])],
  ["Shape", "from start to end", on(x3, "Shape", [], { start: 1, end: -1 })],
  ["Shape", "from a start before the first", on(x3, "Shape", [], { start: -9, end: 9 })],
  ["Size", "", on(x3, "Size")],

  ["Reshape", "to copied and inferred sizes", on(x3, "Reshape", [[0, -1]])],
  ["Reshape", "splitting a known size", on(x4, "Reshape", [[0, 0, -1, 2, 3]])],
  ["Reshape", "to a scalar", (s) => s.op("Reshape", [s.input("x", [1]), s.constant(int64s())])],
  [
    "Reshape",
    "to computed sizes",
    (s) => {
      const x = x4(s);
      s.op("Reshape", [x, s.op("Concat", [shapeOf(s, x, 0, 2), [-1, 3]], { axis: 0 })]);
    },
  ],
  [
    "Reshape",
    "to computed sizes without -1",
    (s) => {
      const x = x4(s);
      s.op("Reshape", [x, s.op("Concat", [s.op("Mul", [shapeOf(s, x, 2), [6]]), shapeOf(s, x, 0)], { axis: 0 })]);
    },
  ],
  ["Reshape", "with allowzero", (s) => s.op("Reshape", [s.input("x", [0, "s"]), [3, 0]], { allowzero: 1 })],
  ["Reshape", "of a vector of sizes", (s) => s.op("Reshape", [shapeOf(s, x3(s), 2), [-1]])],
  ["Flatten", "before axis 1", on(x3, "Flatten")],
  ["Flatten", "before axis 0", on(x3, "Flatten", [], { axis: 0 })],
  ["Flatten", "before the last axis", on(x3, "Flatten", [], { axis: -1 })],
  ["Flatten", "after all axes", on(x3, "Flatten", [], { axis: 3 })],
  ["Flatten", "of a scalar", (s) => s.op("Flatten", [s.input("x", [])], { axis: 0 })],
  ["Transpose", "", on(x3, "Transpose", [], { perm: [2, 0, 1] })],
  ["Transpose", "by default", on(x3, "Transpose")],

  ["Unsqueeze", "", on(x3, "Unsqueeze", [[-1, 0]])],
  ["Unsqueeze", "out of order", on(x3, "Unsqueeze", [[3, 1]])],
  ["Unsqueeze", "with an attribute", on(x3, "Unsqueeze", [], { axes: [1, -1] }), { opset: 11 }],
  ["Unsqueeze", "of a scalar size", (s) => s.op("Unsqueeze", [s.op("Size", [x3(s)]), [0]])],
  ["Squeeze", "", on(x4, "Squeeze", [[-3]])],
  ["Squeeze", "with an attribute", on(x4, "Squeeze", [], { axes: [1] }), { opset: 11 }],
  ["Squeeze", "without axes", (s) => s.op("Squeeze", [s.input("x", [1, 3, 1])])],
  ["Squeeze", "of a size", (s) => s.op("Squeeze", [shapeOf(s, x3(s), 2), [0]])],

  ["Expand", "", (s) => s.op("Expand", [s.input("x", ["b", 1, 1]), [4, 1, 3, 5]])],
  ["Expand", "to fewer axes", on(x3, "Expand", [[1]])],
  [
    "Expand",
    "to the shape of another",
    (s) => s.op("Expand", [s.input("m", [1, "s"]), s.op("Shape", [s.input("y", ["b", "s"])])]),
  ],
  ["Expand", "of a size", (s) => s.op("Expand", [shapeOf(s, x3(s), 0), [3]])],
  ["Tile", "", on(x3, "Tile", [[2, 1, 3]])],
  [
    "Tile",
    "by sizes",
    (s) => {
      const x = x3(s);
      s.op("Tile", [x, s.op("Shape", [x])]);
    },
  ],
  ["Concat", "", (s) => s.op("Concat", [x3(s), s.input("y", ["b", 3, 2]), s.input("z", ["b", 3, "s"])], { axis: -1 })],
  ["Concat", "of one", (s) => s.op("Concat", [x3(s)], { axis: 1 })],

  ["Split", "evenly", (s) => s.node("Split", [fixed(s)], { axis: 2 }, parts(5))],
  ["Split", "into given sizes", (s) => s.node("Split", [fixed(s), [1, 7, 2]], { axis: -1 }, parts(3))],
  [
    "Split",
    "into sizes of an attribute",
    (s) => s.node("Split", [x4(s)], { axis: 3, split: [5, 1] }, parts(2)),
    { opset: 11 },
  ],
  ["Split", "unevenly", (s) => s.node("Split", [fixed(s)], { axis: -1, num_outputs: 4 }, parts(4)), { opset: 18 }],
  ["Split", "along the first axis", (s) => s.node("Split", [fixed(s)], {}, parts(2))],

  ["Gather", "of a row", (s) => s.op("Gather", [x3(s), s.index(-1)], { axis: 1 })],
  ["Gather", "of rows", (s) => s.op("Gather", [s.random([10, 6]), s.input("ids", ["b", "s"], "int64")])],
  ["Gather", "along the last axis", on(x3, "Gather", [[0, 0]], { axis: -1 })],
  ["Gather", "of sizes", (s) => s.op("Gather", [s.op("Shape", [x3(s)]), [-1, 0]])],
  ["GatherElements", "", (s) => s.op("GatherElements", [x3(s), s.input("i", ["b", 2, 4], "int64")], { axis: 2 })],
  [
    "GatherND",
    "",
    (s) => s.op("GatherND", [x3(s), s.input("i", ["n", 2], "int64")]),
    { sizes: [{ b: 2, s: 5, n: 4 }] },
  ],
  ["GatherND", "by batch", (s) => s.op("GatherND", [x3(s), s.input("i", ["b", 7, 1], "int64")], { batch_dims: 1 })],
  ["ScatterND", "", (s) => s.op("ScatterND", [x3(s), s.input("i", [1, 1], "int64"), s.input("u", [1, 3, "s"])])],
  [
    "ScatterElements",
    "",
    (s) => s.op("ScatterElements", [x3(s), s.input("i", [1, 1, 1], "int64"), s.input("u", [1, 1, 1])]),
  ],
  ["Trilu", "", on(x3, "Trilu")],
  ["Dropout", "", (s) => s.node("Dropout", [x3(s)], {}, { outputs: ["kept", "mask"] })],
  ["Pad", "", on(x3, "Pad", [[1, 0, 2, 0, 4, 3]])],
  ["Pad", "with an attribute", on(x3, "Pad", [], { pads: [1, 0, 2, 0, 4, 3] }), { opset: 10 }],
  ["ConstantOfShape", "of fixed sizes", (s) => s.op("ConstantOfShape", [[2]], { value: { tensor: int64s(7) } })],
  ["ConstantOfShape", "of computed sizes", (s) => s.op("ConstantOfShape", [s.op("Shape", [x3(s)])])],
  ["ConstantOfShape", "of no sizes", (s) => s.op("ConstantOfShape", [s.constant(int64s())])],
  ["Range", "of fixed numbers", (s) => s.op("Range", [s.index(2), s.index(11), s.index(3)])],
  ["Range", "of nothing", (s) => s.op("Range", [s.index(5), s.index(5), s.index(1)])],
  ["Range", "up to a size", (s) => s.op("Range", [s.index(0), s.op("Size", [x3(s)]), s.index(1)])],
  [
    "Range",
    "of floats, up to a size",
    (s) => {
      const limit = s.op("Cast", [s.op("Size", [x3(s)])], { to: CAST.float32 });
      s.op("Range", [s.floats([], [0]), limit, s.floats([], [2])]);
    },
  ],
  ["Range", "in steps", (s) => s.op("Range", [s.index(1), s.op("Size", [x3(s)]), s.index(4)])],
];

/** Slices along an axis of dynamic size. */
const slices: [what: string, bounds: bigint[][]][] = [
  ...ENDS.map((end): [string, bigint[][]] => [`up to ${end}`, [[1n], [end], [2n]]]),
  ["from far before the first element", [[-(2n ** 40n)], [INT64_MAX], [-1n]]],
  ["of the first element", [[0n], [1n], [0n]]],
  ["without the last element", [[0n], [-1n], [2n]]],
  ["of the last two elements", [[-2n], [INT64_MAX], [2n]]],
  ["within the last four elements", [[-4n], [-1n], [2n]]],
  [
    "along several axes",
    [
      [0n, 1n],
      [2n, INT64_MAX],
      [1n, -1n],
    ],
  ],
  [
    "along the first axes by default",
    [
      [0n, 1n],
      [1n, 3n],
    ],
  ],
  [
    "with steps of 1",
    [
      [1n, 2n],
      [2n, INT64_MAX],
      [1n, 2n],
      [1n, 1n],
    ],
  ],
  ["with a negative step where the size is known", [[-1n], [INT64_MIN], [1n], [-1n]]],
];

describe("movement rules", () => {
  it.each(cases)("%s %s", async (_, __, draw, options) => {
    expect(await compareWithOnnxruntime(draw, options)).toEqual(AGREES);
  });

  it("are all compared with onnxruntime", () => {
    expect(new Set([...cases.map(([opType]) => opType), "Slice"])).toEqual(new Set(Object.keys(movementRules)));
  });
});

describe("Slice", () => {
  it.each(slices)("%s", async (_, bounds) => {
    const draw = (s: Sketch) => s.op("Slice", [x3(s), ...bounds.map((values) => s.constant(int64(...values)))]);
    expect(await compareWithOnnxruntime(draw)).toEqual(AGREES);
  });

  it("up to a computed size", async () => {
    const draw = (s: Sketch) => {
      const length = shapeOf(s, s.input("ids", ["b", "s"], "int64"), 1);
      s.op("Slice", [s.random([1, 9]), [0], length, [1]]);
    };
    expect(await compareWithOnnxruntime(draw)).toEqual(AGREES);
  });

  it.each<[string, (s: Sketch, length: Value) => Value]>([
    ["from minus the length", (s, length) => s.op("Slice", [x3(s), s.op("Neg", [length]), [2 ** 31 - 1], [2]])],
    [
      "up to minus the length",
      (s, length) => s.op("Slice", [s.input("y", ["b", 40]), [0], s.op("Neg", [length]), [1]]),
    ],
  ])("%s", async (_, slice) => {
    const draw = (s: Sketch) => slice(s, shapeOf(s, s.input("ids", ["b", "s"], "int64"), 1));
    expect(await compareWithOnnxruntime(draw)).toEqual(AGREES);
  });

  it("of any fixed size, with any start, end and step", async () => {
    const bound = fc.oneof(fc.bigInt(-9n, 9n), fc.constantFrom(INT64_MIN, -(2n ** 31n), ...ENDS));
    const stepSize = fc.bigInt(-4n, 4n).filter((value) => value !== 0n);
    const slice = fc
      .tuple(fc.nat(6), bound, bound, stepSize)
      .filter(([, , end, step]) => step > 0n || !ENDS.includes(end));
    await fc.assert(
      fc.asyncProperty(fc.array(slice, { minLength: 20, maxLength: 20 }), async (all) => {
        const draw = (s: Sketch) => {
          for (const [size, start, end, step] of all) {
            const [at, to, by] = [start, end, step].map((value) => s.constant(int64(value)));
            s.op("Slice", [s.input("x", [2, size]), at, to, [-1], by]);
            // Draws the same slice of a vector whose content is known.
            if (size > 0) s.op("Slice", [s.op("Shape", [s.input("y", Array(size).fill("b"))]), at, to, [0], by]);
          }
        };
        expect(await compareWithOnnxruntime(draw, { sizes: [{ b: 1 }] })).toEqual(AGREES);
      }),
      seeded(25),
    );
  });
});

describe("Reshape", () => {
  /**
   * A random Reshape target, as a pair `[axes, open]`. The input's fixed sizes are prime numbers or 1. `axes` assigns
   * each of these sizes to an output axis. The size of output axis `open` is written as -1.
   */
  const target = fc.tuple(fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }), fc.nat(4));

  it("of any shape to any shape with the same number of elements", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(target, { minLength: 20, maxLength: 20 }), async (targets) => {
        const draw = (s: Sketch) => {
          const x = s.input("x", [2, 2, 3, 5, 1, "b"]);
          for (const [axes, open] of targets) {
            const sizes = [0, 1, 2, 3, 4].map((axis) =>
              [2, 2, 3, 5, 1].reduce((size, factor, i) => (axes[i] === axis ? size * factor : size), 1),
            );
            const copied = sizes.map((size, axis) => (axis < 2 && size === 2 ? 0 : size));
            s.op("Reshape", [x, copied.map((size, axis) => (axis === open ? -1 : size))]);
          }
        };
        expect(await compareWithOnnxruntime(draw, { sizes: [{ b: 2 }, { b: 7 }] })).toEqual(AGREES);
      }),
      seeded(20),
    );
  });
});

describe("contents of size vectors", () => {
  it.each<[string, (s: Sketch, sizes: Value) => Value, string]>([
    ["Shape", (_, sizes) => sizes, "b,3,s"],
    ["Size", (s) => s.op("Size", [s.input("y", ["b", 4])]), "4*b"],
    ["Gather", (s, sizes) => s.op("Gather", [sizes, [-1, 0]]), "s,b"],
    ["Gather", (s, sizes) => s.op("Gather", [sizes, s.index(2)]), "s"],
    ["Slice", (s, sizes) => s.op("Slice", [sizes, [-1], [-99], [0], [-2]]), "s,b"],
    ["Concat", (s, sizes) => s.op("Concat", [sizes, [-1], sizes], { axis: 0 }), "b,3,s,-1,b,3,s"],
    ["Unsqueeze", (s) => s.op("Unsqueeze", [s.op("Size", [s.input("y", ["b"])]), [0]]), "b"],
    ["Squeeze", (s, sizes) => s.op("Squeeze", [s.op("Gather", [sizes, [2]]), [0]]), "s"],
    ["Reshape", (s, sizes) => s.op("Reshape", [sizes, [3]]), "b,3,s"],
    ["Expand", (s, sizes) => s.op("Expand", [s.op("Gather", [sizes, [0]]), [3]]), "b,b,b"],
    ["ConstantOfShape", (s) => s.op("ConstantOfShape", [[3]], { value: { tensor: int64s(7) } }), "7,7,7"],
    ["Range", (s) => s.op("Range", [s.index(2), s.index(9), s.index(3)]), "2,5,8"],
    ["Dropout", (s, sizes) => s.op("Dropout", [sizes]), "b,3,s"],
  ])("are inferred through %s", (_, draw, expected) => {
    const s = new Sketch();
    const value = draw(s, s.op("Shape", [x3(s)]));
    inferShapes(s.graph);
    expect(value.content?.join()).toBe(expected);
  });
});

describe("a shape that depends on more than sizes", () => {
  /** Returns the inferred shape of the output. */
  function shapeFor(draw: (s: Sketch) => Value, opset?: number): string | undefined {
    const s = new Sketch(opset);
    const value = draw(s);
    inferShapes(s.graph);
    return value.shape && `[${value.shape}]`;
  }

  it.each<[string, (s: Sketch) => Value, number?]>([
    ["a slice up to a number from an input", (s) => s.op("Slice", [x3(s), [0], s.input("end", [1], "int64"), [2]])],
    ["a slice along an axis from an input", (s) => s.op("Slice", [x3(s), [0], [1], s.input("axes", [1], "int64")])],
    ["a slice backwards to an ambiguous end", (s) => s.op("Slice", [fixed(s), [-1], [2 ** 31 - 1], [2], [-1]])],
    ["a backward slice of a dynamic size", (s) => s.op("Slice", [x3(s), [-1], [-99], [2], [-1]])],
    ["a slice along a missing axis", (s) => s.op("Slice", [x3(s), [0], [1], [1e9]])],
    ["a split into parts from an input", (s) => s.op("Split", [fixed(s), s.input("parts", [1], "int64")])],
    ["an even split of a dynamic size", (s) => s.op("Split", [x3(s)], { axis: 2 }, parts(2))],
    ["a padding of some axes", (s) => s.op("Pad", [s.input("x", [3, 4]), [1, 2, 1, 2], undefined, [1, 0]]), 18],
    ["a squeeze of all axes of size 1", (s) => s.op("Squeeze", [s.input("x", ["b", 1])])],
    ["a squeeze of axes from an input", (s) => s.op("Squeeze", [x4(s), s.input("axes", [1], "int64")])],
    ["a range of floats", (s) => s.op("Range", [s.floats([], [0]), s.input("end", []), s.floats([], [1])])],
    ["a reshape to a target of unknown rank", (s) => s.op("Reshape", [x3(s), s.input("target", ["n"], "int64")])],
    ["a reshape to a target with too many axes", (s) => s.op("Reshape", [x3(s), s.input("target", [1e12], "int64")])],
    ["a reshape to invalid sizes", (s) => s.op("Reshape", [x3(s), [-2, -3]])],
    [
      "a ConstantOfShape with a target of unknown rank",
      (s) => s.op("ConstantOfShape", [s.input("target", ["n"], "int64")]),
    ],
    ["a slice before opset 10", (s) => s.op("Slice", [x3(s)], { starts: [0], ends: [1], axes: [2] }), 9],
  ])("is unknown: %s", (_, draw, opset) => {
    expect(shapeFor(draw, opset)).toBeUndefined();
  });

  it("has a known rank after a reshape to a target from an input", () => {
    expect(shapeFor((s) => s.op("Reshape", [x3(s), s.input("target", [2], "int64")]))).toBe("[Reshape.0,Reshape.1]");
    expect(shapeFor((s) => s.op("Expand", [x3(s), s.input("target", [4], "int64")]))).toMatch(/^\[Expand.0.*3\]$/);
  });

  it("has no content if an operator would repeat it too often", () => {
    const s = new Sketch();
    const size = s.op("Size", [s.input("x", ["b"])]);
    const fills = [
      s.op("Expand", [size, [2 ** 40]]),
      s.op("ConstantOfShape", [[2 ** 40]], { value: { tensor: int64s(7) } }),
      s.op("Range", [s.index(0), s.index(2 ** 40), s.index(1)]),
    ];
    inferShapes(s.graph);
    expect(fills.map(({ shape, content }) => [`${shape}`, content])).toEqual(Array(3).fill([`${2 ** 40}`, undefined]));
  });

  it("has no content after an invalid ConstantOfShape", () => {
    const s = new Sketch();
    const fill = s.op("ConstantOfShape", [[2]], { value: { tensor: int64s() } });
    expect(() => inferShapes(s.graph)).not.toThrow();
    expect(fill.content).toBeUndefined();
  });
});
