import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { toOrt } from "../evaluate/ort-session.ts";
import type { Value } from "../graph/node.ts";
import { elementCount, tensor } from "../graph/tensor.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { indexMap, movementSources, SampleSizes } from "./index-map.ts";

/** Adds one operator that moves the elements of a value. Returns the result and its shape. */
type Move = (s: Sketch, x: Value, shape: readonly number[]) => [Value, readonly number[]];

const below = (random: number, limit: number) => Math.floor(random * limit);
const without = (shape: readonly number[], axis: number) => shape.filter((_, i) => i !== axis);

/** Operators that move elements. The three numbers in [0, 1) choose an operator's parameters. */
const moves: Record<string, (a: number, b: number, c: number) => Move> = {
  Transpose: (a, b) => (s, x, shape) => {
    const perm = shape.map((_, i) => i);
    const [i, j] = [below(a, shape.length), below(b, shape.length)];
    [perm[i], perm[j]] = [perm[j] as number, perm[i] as number];
    return [s.op("Transpose", [x], { perm }), perm.map((axis) => shape[axis] as number)];
  },
  Reverse: () => (s, x, shape) => [s.op("Transpose", [x]), shape.toReversed()],
  Join: (a) => (s, x, shape) => {
    if (shape.length < 2) return [x, shape];
    const at = below(a, shape.length - 1);
    const target = shape.flatMap((size, i) =>
      i === at ? [size * (shape[i + 1] as number)] : i === at + 1 ? [] : [size],
    );
    return [s.op("Reshape", [x, target]), target];
  },
  Part: (a) => (s, x, shape) => {
    const at = below(a, shape.length);
    const size = shape[at] as number;
    const factor = [2, 3, 5].find((each) => size % each === 0) ?? 1;
    const target = [...shape.slice(0, at), factor, size / factor, ...shape.slice(at + 1)];
    return [s.op("Reshape", [x, target]), target];
  },
  Unsqueeze: (a) => (s, x, shape) => {
    const at = below(a, shape.length + 1);
    return [s.op("Unsqueeze", [x, [at]]), shape.toSpliced(at, 0, 1)];
  },
  Squeeze: () => (s, x, shape) => {
    const at = shape.indexOf(1);
    return at < 0 || shape.length < 2 ? [x, shape] : [s.op("Squeeze", [x, [at]]), without(shape, at)];
  },
  Flatten: (a) => (s, x, shape) => {
    const axis = below(a, shape.length + 1);
    return [s.op("Flatten", [x], { axis }), [elementCount(shape.slice(0, axis)), elementCount(shape.slice(axis))]];
  },
  Slice: (a, b, c) => (s, x, shape) => {
    const axis = below(a, shape.length);
    const size = shape[axis] as number;
    const from = below(b, size);
    const to = from + 1 + below(c, size - from);
    const [start, last] = [a < 0.5 ? from : from - size, c < 0.5 && to === size ? 2 ** 31 - 1 : to];
    return [s.op("Slice", [x, [start], [last], [b < 0.5 ? axis : axis - shape.length]]), shape.with(axis, to - from)];
  },
  EveryOther: (a, b) => (s, x, shape) => {
    const axis = below(a, shape.length);
    const [size, from] = [shape[axis] as number, b < 0.5 ? 0 : 1];
    if (size <= from) return [x, shape];
    return [s.op("Slice", [x, [from], [2 ** 31 - 1], [axis], [2]]), shape.with(axis, Math.ceil((size - from) / 2))];
  },
  Expand: (a) => (s, x, shape) => {
    const axis = below(a, shape.length + 1);
    const target = shape.toSpliced(axis, 0, 2);
    return [s.op("Expand", [s.op("Unsqueeze", [x, [axis]]), target]), target];
  },
  Split: (a, b, c) => (s, x, shape) => {
    const axis = below(a, shape.length);
    const size = shape[axis] as number;
    if (size < 2) return [x, shape];
    const first = 1 + below(b, size - 1);
    const parts = s.node("Split", [x, [first, size - first]], { axis }, { outputs: ["left", "right"] }).outputs;
    return [parts[c < 0.5 ? 0 : 1] as Value, shape.with(axis, c < 0.5 ? first : size - first)];
  },
  GatherOne: (a, b) => (s, x, shape) => {
    if (shape.length < 2) return [x, shape];
    const axis = below(a, shape.length);
    const size = shape[axis] as number;
    return [s.op("Gather", [x, s.index(below(b, size) - (a < 0.5 ? size : 0))], { axis }), without(shape, axis)];
  },
  GatherMany: (a, b, c) => (s, x, shape) => {
    const axis = below(a, shape.length);
    const size = shape[axis] as number;
    return [s.op("Gather", [x, [below(b, size), below(c, size)]], { axis }), shape.with(axis, 2)];
  },
  Scale: (a) => (s, x, shape) => [a < 0.5 ? s.op("Mul", [2, x]) : s.op("Div", [x, 0.5]), shape],
};

const fraction = fc.integer({ min: 0, max: 999 }).map((value) => value / 1000);
const move = fc
  .tuple(fc.constantFrom(...Object.keys(moves)), fraction, fraction, fraction)
  .map(([name, a, b, c]) => ({ move: moves[name]?.(a, b, c) as Move, name }));

describe("indexMap", () => {
  it("maps every element as onnxruntime does", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 8 }), async (chain) => {
        const s = new Sketch(13);
        const shape = [2, 3, 12];
        const x = s.input("x", shape);
        let [value, at]: [Value, readonly number[]] = [x, shape];
        for (const { move } of chain) [value, at] = move(s, value, at);
        const result = s.op("Identity", [value]);
        s.output(result);
        inferShapes(s.graph);
        const map = indexMap(result, x, new SampleSizes());
        const numbers = tensor(
          "float32",
          shape,
          Float32Array.from({ length: 72 }, (_, i) => i),
        );
        const [{ result: moved } = {}] = await runGraph(s.graph, [{ x: toOrt(numbers) }]);
        expect(map?.shape).toEqual(moved?.dims);
        const expected = Array.from((moved?.data ?? []) as Float32Array);
        expect(Array.from(map?.index ?? [], (index) => index * (map?.scale ?? 0))).toEqual(expected);
      }),
      seeded(runs(80, 300)),
    );
  });

  it("gives every symbol a unique size, the same in all shapes", () => {
    const s = new Sketch();
    const [x, y] = [s.input("x", ["a", "b", 4]), s.input("y", ["b", "a"])];
    const sizes = new SampleSizes();
    const [a, b] = sizes.of(x.shape) ?? [];
    expect(sizes.of(y.shape)).toEqual([b, a]);
    expect(a).not.toBe(b);
  });

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["computes", (s, x) => s.op("Tanh", [x])],
    ["adds", (s, x) => s.op("Add", [x, 1])],
    ["divides by", (s, x) => s.op("Div", [1, x])],
    ["scales element by element", (s, x) => s.op("Mul", [x, s.random([4])])],
    ["reverses", (s, x) => s.op("Slice", [x, [-1], [-9], [1], [-1]])],
    ["gathers by an input", (s, x) => s.op("Gather", [x, s.input("i", [2], "int64")])],
    ["belongs to another domain", (s, x) => s.op("Transpose", [x], {}, { domain: "other" })],
  ])("does not follow an operator that %s", (_, draw) => {
    const s = new Sketch();
    const x = s.input("x", ["n", 4]);
    const value = draw(s, x);
    s.output(value);
    inferShapes(s.graph);
    expect(indexMap(value, x, new SampleSizes())).toBeUndefined();
  });
});

describe("movementSources", () => {
  it("lists the sources of movements, nearest first", () => {
    const s = new Sketch();
    const x = s.op("Tanh", [s.input("x", [2, 6])], {}, { name: "tanh" });
    const value = s.op(
      "Transpose",
      [s.op("Mul", [0.5, s.op("Reshape", [x, [2, 3, 2]], {}, { name: "parts" })], {}, { name: "half" })],
      {},
      { name: "last" },
    );
    expect([...movementSources(value)].map(({ name }) => name)).toEqual(["last", "half", "parts", "tanh"]);
  });
});
