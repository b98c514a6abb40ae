import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";

const indices = (s: Sketch, shape: readonly number[], values: readonly number[]) =>
  s.constant(tensor("int64", shape, BigInt64Array.from(values, BigInt)));
const operatorsOf = async (draw: (s: Sketch, x: Value) => Value) =>
  Object.keys((await rewritten((s) => s.output(draw(s, s.input("x", [2, 3]))))).counts);

/** Row and column of each element of a matrix with two rows and three columns. */
const all = [0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2];

describe("a lookup of every element, in order", () => {
  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["Gather", (s, x) => s.op("Gather", [x, indices(s, [1, 1, 3], [0, 1, 2])], { axis: 1 })],
    ["GatherND", (s, x) => s.op("GatherND", [x, indices(s, [2, 1, 3, 2], all)])],
  ])("becomes a Reshape: %s", async (_, draw) => {
    expect(await operatorsOf(draw)).toEqual(["Reshape"]);
  });

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    ["Gather of some", (s, x) => s.op("Gather", [x, indices(s, [1, 2], [0, 1])], { axis: 1 })],
    ["Gather in another order", (s, x) => s.op("Gather", [x, indices(s, [1, 3], [0, 2, 1])], { axis: 1 })],
    ["GatherND of some", (s, x) => s.op("GatherND", [x, indices(s, [1, 3, 2], all.slice(0, 6))])],
    ["GatherND of rows", (s, x) => s.op("GatherND", [x, indices(s, [1, 2, 1], [0, 1])])],
  ])("is no other lookup: %s", async (name, draw) => {
    expect(await operatorsOf(draw)).toEqual([name.split(" ")[0]]);
  });
});
