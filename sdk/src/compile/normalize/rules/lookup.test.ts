import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";

const TABLE_ROWS = 2;

const oneHot = (values: readonly number[], { depth = TABLE_ROWS, axis = -1 } = {}) =>
  rewritten(
    (s: Sketch) => {
      const types = s.input("token_type_ids", ["batch", "sequence"], "int64");
      const hot = s.op("OneHot", [types, s.index(depth), s.floats([2], values)], { axis });
      s.output(
        s.op("MatMul", [axis === 1 ? s.op("Transpose", [hot], { perm: [0, 2, 1] }) : hot, s.random([depth, 4])]),
      );
    },
    { optimize: only() },
  );

describe("a MatMul of one-hot rows and a table", () => {
  it("becomes Gather", async () => {
    expect((await oneHot([0, 1])).counts).toEqual({ Gather: 1 });
  });

  it.each<[string, readonly number[], { depth?: number; axis?: number }]>([
    ["with other values than 0 and 1", [0, 2], {}],
    ["with inverted rows", [1, 0], {}],
    ["with hot columns", [0, 1], { axis: 1 }],
  ])("stays %s", async (_, values, options) => {
    expect((await oneHot(values, options)).counts).toMatchObject({ OneHot: 1, MatMul: 1 });
  });
});

const [ROWS, WIDTH] = [9, 4];
const rows = (s: Sketch) =>
  s.constant(
    tensor(
      "uint8",
      [ROWS, WIDTH],
      Uint8Array.from({ length: ROWS * WIDTH }, (_, i) => 7 * i),
    ),
  );
const zero = (s: Sketch) => s.constant(tensor("uint8", [], Uint8Array.of(128)));

const lookup = (table: (s: Sketch) => Value, axis = 0) =>
  rewritten(
    (s) => {
      const dequantized = table(s);
      s.output(s.op("Gather", [dequantized, s.input("ids", ["batch", "sequence"], "int64")], { axis }));
      s.output(s.op("Gather", [dequantized, s.input("more", ["batch"], "int64")], { axis }), "more rows");
    },
    { optimize: only(), below: { ids: WIDTH, more: WIDTH } },
  );

/** Returns the type of each operator and of its first input. */
const typesIn = ({ graph }: Awaited<ReturnType<typeof lookup>>) =>
  graph.sorted().map(({ opType, inputs }) => `${opType} of ${inputs[0]?.dtype} [${inputs[0]?.shape}]`);

describe("a lookup in a quantized table", () => {
  it.each<[string, (s: Sketch) => Value]>([
    ["with a zero point", (s) => s.op("DequantizeLinear", [rows(s), 0.1, zero(s)])],
    ["without a zero point", (s) => s.op("DequantizeLinear", [rows(s), 0.1])],
  ])("comes before the scaling: %s", async (_, table) => {
    expect(typesIn(await lookup(table)).sort()).toEqual([
      "DequantizeLinear of uint8 [batch,4]",
      "DequantizeLinear of uint8 [batch,sequence,4]",
      "Gather of uint8 [9,4]",
      "Gather of uint8 [9,4]",
    ]);
  });

  it("of columns comes before the scaling too", async () => {
    const found = await lookup((s) => s.op("DequantizeLinear", [rows(s), 0.1, zero(s)]), 1);
    expect(found.counts).toEqual({ Gather: 2, DequantizeLinear: 2 });
  });

  it.each<[string, (s: Sketch) => Value]>([
    ["with a scale for each column", (s) => s.op("DequantizeLinear", [rows(s), s.random([WIDTH], 1)], { axis: 1 })],
    ["that is computed", (s) => s.op("DequantizeLinear", [s.input("rows", [ROWS, WIDTH], "uint8"), 0.1])],
  ])("stays after the scaling: %s", async (_, table) => {
    expect((await lookup(table)).counts).toEqual({ DequantizeLinear: 1, Gather: 2 });
  });
});

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
