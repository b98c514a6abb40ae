import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";

const ROWS = 2;

const lookup = (values: readonly number[], { depth = ROWS, axis = -1 } = {}) =>
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
    expect((await lookup([0, 1])).counts).toEqual({ Gather: 1 });
  });

  it.each<[string, readonly number[], { depth?: number; axis?: number }]>([
    ["with other values than 0 and 1", [0, 2], {}],
    ["with inverted rows", [1, 0], {}],
    ["with hot columns", [0, 1], { axis: 1 }],
  ])("stays %s", async (_, values, options) => {
    expect((await lookup(values, options)).counts).toMatchObject({ OneHot: 1, MatMul: 1 });
  });
});
