import { expect, it } from "vitest";
import { CAST, type Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

type Draw = (s: Sketch, x: Value) => Value;
const HALF = { to: CAST.float16 };
const WHOLE = { to: CAST.float32 };

/** Casts x to float16, moves it and casts it back. Returns the operators in the order in which they run. */
const order = async (move: Draw, shape: readonly (number | string)[] = ["batch", "sequence", 8]) => {
  const { graph } = await rewritten(
    (s) => s.output(s.op("Cast", [move(s, s.op("Cast", [s.input("x", shape)], HALF))], WHOLE)),
    { optimize: only() },
  );
  return graph.sorted().map(({ opType }) => opType);
};

it.each<[string, Draw, readonly string[]]>([
  ["heads", (s, x) => s.op("Reshape", [x, [0, 0, 2, 4]]), ["Reshape"]],
  ["a transposition", (s, x) => s.op("Transpose", [x], { perm: [0, 2, 1] }), ["Transpose"]],
  ["columns", (s, x) => s.op("Slice", [x, [2], [4], [2]]), ["Slice"]],
  ["a column", (s, x) => s.op("Gather", [x, s.index(3)], { axis: 2 }), ["Gather"]],
])("%s are moved after the cast", async (_, move, movements) => {
  expect(await order(move)).toEqual(["Cast", "Cast", ...movements]);
});

it("heads of a MatMul of two computed values are merged before the cast", async () => {
  const merged: Draw = (s, x) => s.op("Reshape", [s.op("MatMul", [x, x]), [0, -1]]);
  expect(await order(merged, [2, 4, 4])).toEqual(["Cast", "MatMul", "Reshape", "Cast"]);
});

it.each<[string, Draw, readonly string[]]>([
  ["tokens", (s, x) => s.op("Slice", [x, [0], [1], [1]]), ["Slice"]],
  ["a token", (s, x) => s.op("Gather", [x, s.index(0)], { axis: 1 }), ["Gather"]],
])("%s are selected before the cast", async (_, move, movements) => {
  expect(await order(move)).toEqual(["Cast", ...movements, "Cast"]);
});

it.each<[string, Draw, readonly string[]]>([
  ["a transposition", (s, x) => s.op("Transpose", [x], { perm: [0, 2, 1] }), ["Cast", "Transpose", "Cast"]],
  ["a view", (s, x) => s.op("Reshape", [x, [0, 0, 2, 4]]), ["Cast", "Cast", "Reshape", "Reshape"]],
])("%s that others read too is not computed twice, unless it is a view", async (_, move, operators) => {
  const read: Draw = (s, x) => {
    const moved = move(s, x);
    s.output(moved, "moved");
    return moved;
  };
  expect((await order(read)).sort()).toEqual([...operators].sort());
});
