import { expect, it } from "vitest";
import { Sketch } from "#test/fixtures/sketch.ts";
import { float32Scalar, tensor } from "../graph/tensor.ts";
import { tableRows } from "./probe-inputs.ts";

const quantizedTable = (rows: number) => tensor("int8", [rows, 4], new Int8Array(rows * 4));
const scale = float32Scalar(0.5);

it.each<[string, number | undefined, (s: Sketch, ids: ReturnType<Sketch["input"]>) => unknown]>([
  ["a table", 50, (s, ids) => s.op("Gather", [s.random([50, 4]), ids])],
  ["the smaller of two tables", 7, (s, ids) => [50, 7].map((rows) => s.op("Gather", [s.random([rows, 4]), ids]))],
  ["a table behind a cast", 50, (s, ids) => s.op("Gather", [s.random([50, 4]), s.op("Cast", [ids], { to: 7 })])],
  [
    "a quantized table",
    50,
    (s, ids) => s.op("Gather", [s.op("DequantizeLinear", [s.constant(quantizedTable(50)), s.constant(scale)]), ids]),
  ],
  ["a computed table", undefined, (s, ids) => s.op("Gather", [s.op("Cast", [ids], { to: 1 }), ids])],
  ["a list, which is no table", undefined, (s, ids) => s.op("Gather", [s.random([50]), ids])],
  [
    "a table through a node whose output is not an index",
    undefined,
    (s, ids) => s.op("Gather", [s.random([9, 4]), s.op("Equal", [ids, ids])]),
  ],
  ["a constant index, and is itself the table", undefined, (s, ids) => s.op("Gather", [ids, s.index(0)])],
  ["nothing", undefined, () => undefined],
])("an input indexes %s: %s rows", (_, rows, build) => {
  const s = new Sketch();
  const ids = s.input("input_ids", ["batch", "sequence"], "int64");
  build(s, ids);
  expect(tableRows(ids)).toBe(rows);
});

it("each input of a fused embedding indexes its own table", () => {
  const s = new Sketch();
  const [ids, types] = ["input_ids", "token_type_ids"].map((name) => s.input(name, ["batch", "sequence"], "int32"));
  const tables = [50, 16, 2].map((rows) => s.random([rows, 4]));
  s.op(
    "EmbedLayerNormalization",
    [ids, types, ...tables, s.random([4]), s.random([4])],
    {},
    { domain: "com.microsoft" },
  );
  expect([ids, types].map((input) => input && tableRows(input))).toEqual([50, 2]);
});
