import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import type { Tensors } from "#test/oracles/run-model.ts";
import { runOnnx } from "#test/oracles/run-onnx.ts";
import { runWeb } from "#test/oracles/run-web.ts";
import { symbolicDim } from "../../graph/dim.ts";
import { Graph } from "../../graph/graph.ts";
import { tensor } from "../../graph/tensor.ts";
import { encodeOnnx } from "../../onnx/to-onnx.ts";
import type { EmbeddingTable } from "../quantize-graph.ts";
import { blockLookup, ortTable } from "./block-lookup.ts";
import type { TablePrecision } from "./quantize-table.ts";

const ROWS = 3;
const ids = [2, 0, 1, 2];

/**
 * Makes the numbers of a table [ROWS, width] that a precision can hold exactly: integers times a power of two for each block. The
 * first integer of a block is the smallest one, so that no other scale fits the block.
 */
function exactNumbers(width: number, { bits, block }: TablePrecision): Float32Array<ArrayBuffer> {
  const middle = 2 ** (bits - 1);
  return Float32Array.from({ length: ROWS * width }, (_, i) => {
    const integer = i % block === 0 ? -middle : ((7 * i) % (2 * middle)) - middle;
    return integer * 2 ** (Math.floor(i / block) % 5);
  });
}

/** Draws a graph that looks up `ids` in a table; undefined if the table stays in float32. */
function lookup(
  numbers: Float32Array<ArrayBuffer>,
  width: number,
  precision: TablePrecision | undefined,
): Graph | undefined {
  const graph = new Graph("lookup");
  graph.opsets.set("", 17);
  const input = graph.input("ids", { dtype: "int64", shape: [symbolicDim("n")] });
  const table = graph.constant("table", tensor("float32", [ROWS, width], numbers)) as EmbeddingTable;
  const value = blockLookup(() => precision)(graph, "lookup", table, input);
  if (!value) return undefined;
  graph.outputs.push({ name: "y", value, declaration: undefined });
  return graph;
}

const engines: [string, (model: Uint8Array<ArrayBuffer>, feeds: Tensors) => Promise<Tensors>][] = [
  ["native", runOnnx],
  ["WebAssembly", runWeb],
];

describe.each(engines)("blockLookup in onnxruntime, %s", (_, run) => {
  it.each([
    [8, 128],
    [8, 48],
    [4, 64],
    [4, 48],
  ] as const)(
    "returns exactly the rows of a table that it can hold, with %d bits and a width of %d",
    async (bits, width) => {
      const precision = ortTable(bits)(width) as TablePrecision;
      const feeds = { ids: new ort.Tensor("int64", BigInt64Array.from(ids, BigInt), [ids.length]) };
      const numbers = exactNumbers(width, precision);
      const { y } = await run(encodeOnnx(lookup(numbers, width, precision) as Graph), feeds);
      expect(y?.dims).toEqual([ids.length, width]);
      const rows = ids.flatMap((id) => Array.from(numbers.subarray(id * width, (id + 1) * width)));
      expect(Array.from(y?.data as Float32Array)).toEqual(rows);
    },
  );
});

describe("ortTable", () => {
  it("chooses the largest block that divides a row", () => {
    expect([384, 192, 96, 48, 24].map((width) => ortTable(8)(width)?.block)).toEqual([128, 64, 32, 16, undefined]);
    expect([384, 192, 96, 48, 24].map((width) => ortTable(4)(width)?.block)).toEqual([32, 32, 32, 16, undefined]);
  });

  it("leaves tables in float32 that onnxruntime cannot look up in blocks", () => {
    expect(lookup(new Float32Array(ROWS * 24), 24, ortTable(8)(24))).toBeUndefined();
  });
});
