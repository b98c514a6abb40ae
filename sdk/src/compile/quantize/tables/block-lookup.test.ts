import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import type { Tensors } from "#test/oracles/run-model.ts";
import { runOnnx } from "#test/oracles/run-onnx.ts";
import { runWeb } from "#test/oracles/run-web.ts";
import { symbolicDim } from "../../graph/dim.ts";
import { Graph } from "../../graph/graph.ts";
import { tensor, toFloat32 } from "../../graph/tensor.ts";
import { encodeOnnx } from "../../onnx/to-onnx.ts";
import type { EmbeddingTable } from "../quantize-graph.ts";
import { blockLookup, ortTable } from "./block-lookup.ts";
import { quantizeTable, type TablePrecision } from "./quantize-table.ts";

const ROWS = 3;
const numbersOf = (width: number) =>
  tensor(
    "float32",
    [ROWS, width],
    Float32Array.from({ length: ROWS * width }, (_, i) => Math.sin(i) * 10 ** ((i >> 4) % 5)),
  );
const ids = [2, 0, 1, 2];

/** Returns the dequantized rows of `ids`, one after the other. */
function dequantizedRows(width: number, precision: TablePrecision): number[] {
  const { values, scales } = quantizeTable(numbersOf(width), precision);
  const perByte = 8 / precision.bits;
  return ids.flatMap((id) =>
    Array.from({ length: width }, (_, j) => {
      const at = id * width + j;
      const value =
        ((values.data[Math.floor(at / perByte)] as number) >> ((at % perByte) * precision.bits)) % 2 ** precision.bits;
      return (
        Math.fround(
          (value - 2 ** (precision.bits - 1)) * (toFloat32(scales)[Math.floor(at / precision.block)] as number),
        ) + 0
      );
    }),
  );
}

function lookup(width: number, precision: TablePrecision | undefined): Graph | undefined {
  const graph = new Graph("lookup");
  graph.opsets.set("", 17);
  const input = graph.input("ids", { dtype: "int64", shape: [symbolicDim("n")] });
  const table = graph.constant("table", numbersOf(width)) as EmbeddingTable;
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
  ] as const)("returns exactly the dequantized rows, with %d bits and a width of %d", async (bits, width) => {
    const precision = ortTable(bits)(width) as TablePrecision;
    const feeds = { ids: new ort.Tensor("int64", BigInt64Array.from(ids, BigInt), [ids.length]) };
    const { y } = await run(encodeOnnx(lookup(width, precision) as Graph), feeds);
    expect(y?.dims).toEqual([ids.length, width]);
    expect(Array.from(y?.data as Float32Array, (value) => value + 0)).toEqual(dequantizedRows(width, precision));
  });
});

describe("ortTable", () => {
  it("chooses the largest block that divides a row", () => {
    expect([384, 192, 96, 48, 24].map((width) => ortTable(8)(width)?.block)).toEqual([128, 64, 32, 16, undefined]);
    expect([384, 192, 96, 48, 24].map((width) => ortTable(4)(width)?.block)).toEqual([32, 32, 32, 16, undefined]);
  });

  it("leaves tables in float32 that onnxruntime cannot look up in blocks", () => {
    expect(lookup(24, ortTable(8)(24))).toBeUndefined();
  });
});
