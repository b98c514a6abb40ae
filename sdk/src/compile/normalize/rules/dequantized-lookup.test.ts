import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";

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
