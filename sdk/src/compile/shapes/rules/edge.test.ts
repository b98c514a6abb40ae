import { describe, expect, it } from "vitest";
import { Sketch } from "#test/fixtures/sketch.ts";
import { EDGE } from "../../graph/operators.ts";
import { tensor } from "../../graph/tensor.ts";
import { inferShapes } from "../infer-shapes.ts";

describe("the shape of an operator of the edge engine", () => {
  it("has the width of the table's rows in LookupLevels", () => {
    const s = new Sketch();
    const rows = s.constant(tensor("uint8", [5, 34], new Uint8Array(5 * 34)));
    const ids = s.input("ids", ["batch", "sequence"], "int64");
    const value = s.op("LookupLevels", [rows, ids, s.random([5])], { width: 64 }, { domain: EDGE });
    inferShapes(s.graph);
    expect([value.dtype, `${value.shape}`]).toEqual(["float32", "batch,sequence,64"]);
  });

  it.each([undefined, 16])("has one number per output in DynamicQuantizeMatMul, in groups of %s", (group) => {
    const s = new Sketch();
    const weight = s.constant(tensor("uint8", [7, 32], new Uint8Array(7 * 32)));
    const inputs = [s.input("x", ["n", 32]), weight, s.random([7]), s.random([7])];
    const value = s.op("DynamicQuantizeMatMul", inputs, { ...(group && { group }) }, { domain: EDGE });
    inferShapes(s.graph);
    expect([value.dtype, `${value.shape}`]).toEqual(["float32", "n,7"]);
  });

  it("is that of the queries in DynamicQuantizeAttention", () => {
    const s = new Sketch();
    const inputs = ["query", "key", "value"].map((name) => s.input(name, ["batch", "sequence", 32]));
    const value = s.op("DynamicQuantizeAttention", inputs, { num_heads: 4 }, { domain: EDGE });
    inferShapes(s.graph);
    expect([value.dtype, `${value.shape}`]).toEqual(["float32", "batch,sequence,32"]);
  });
});
