import { describe, expect, it } from "vitest";
import { correlatedTokens, statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { identity, quantizedLayer, randomMatrix } from "#test/fixtures/quantized-layer.ts";
import { integerKernels } from "#test/oracles/interpreter/integer-kernels.ts";
import type { NodeKernel, NodeTensor } from "#test/oracles/interpreter/node-kernel.ts";
import { integerProduct } from "#test/oracles/reference/integer-product.ts";
import { symbolicDim } from "../../graph/dim.ts";
import { Graph } from "../../graph/graph.ts";
import type { Node } from "../../graph/node.ts";
import { elementCount, numbersOf, type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { EmbeddingTable } from "../quantize-graph.ts";
import { quantizeTable } from "../tables/quantize-table.ts";
import { quantizeWeight } from "../weights/quantize-weight.ts";
import { weightQuantizer } from "../weights/weight-quantizer.ts";
import { int8Edge, SEVEN_BIT_ACTIVATIONS, SEVEN_BIT_WEIGHTS } from "./int8-edge.ts";

/** Relative error of a scaled integer sum: float32 rounds both scales, their product and the result. */
const FLOAT32_ROUNDING = 2 ** -21;

/**
 * Maximum error of a number in 4 bits, as a share of its block's peak. Half of the largest distance of two levels is 0.083. A smaller
 * multiplier clips the peak by more.
 */
const MAX_LEVEL_ERROR = 0.2;

const toNearest = { clipping: false, gptq: false, biasCorrection: false };
const [INPUTS, OUTPUTS] = [40, 18];

/** Runs a graph's only node with the edge engine's reference kernel. */
async function run({ nodes }: Graph, input: NodeTensor): Promise<Float32Array> {
  const [node] = [...nodes] as [Node];
  const kernel = integerKernels[`${node.domain}:${node.opType}`] as NodeKernel;
  const inputs = node.inputs.map((value) => (value?.constant ? numbersIn(value.constant) : value && input));
  const [result] = await kernel(node, integerProduct)(inputs);
  expect(result?.data).toHaveLength(elementCount(result?.shape ?? []));
  return result?.data as Float32Array;
}
const numbersIn = (value: Tensor): NodeTensor => ({ shape: value.shape, data: Float32Array.from(numbersOf(value)) });

describe.each([
  ["7-bit weights", SEVEN_BIT_WEIGHTS, "uint8"],
  ["7-bit activations", SEVEN_BIT_ACTIVATIONS, "int8"],
] as const)("int8Edge, for linear layers, %s", (_, operands, dtype) => {
  const weight = randomMatrix(INPUTS, OUTPUTS, 1).map((value) => value + 0.3);
  const precision = { min: operands.weight.min, max: operands.weight.max, symmetric: false };

  it("stores the quantized weight as [outputs, inputs]", async () => {
    const graph = await quantizedLayer(int8Edge({ operands }), weightQuantizer(toNearest), weight, INPUTS);
    const [node] = [...graph.nodes] as [Node];
    expect(node.inputs[1]?.constant).toMatchObject({ dtype, shape: [OUTPUTS, INPUTS] });
    const quantized = quantizeWeight(tensor("float32", [INPUTS, OUTPUTS], weight), precision, toNearest, undefined);
    const found = await run(graph, { shape: [INPUTS, INPUTS], data: identity(INPUTS) });
    quantized.values.forEach((integer, at) => {
      const output = at % OUTPUTS;
      const wanted = (quantized.scales[output] as number) * (integer - (quantized.zeroPoints[output] as number));
      expect(Math.abs((found[at] as number) - wanted)).toBeLessThanOrEqual(FLOAT32_ROUNDING * Math.abs(wanted));
    });
  });

  it("adds the bias correction to the bias", async () => {
    const statistics = new Map([["weight", statisticsOf(correlatedTokens(INPUTS, 50, 1))]]);
    const corrected = { ...toNearest, biasCorrection: true };
    const graph = await quantizedLayer(int8Edge({ operands }), weightQuantizer(corrected, statistics), weight, INPUTS);
    const { biasCorrection } = quantizeWeight(
      tensor("float32", [INPUTS, OUTPUTS], weight),
      precision,
      corrected,
      statistics.get("weight"),
    );
    const [node] = [...graph.nodes] as [Node];
    expect([...toFloat32(node.inputs[4]?.constant as Tensor)]).toEqual([...(biasCorrection ?? [])]);
    const found = await run(graph, { shape: [1, INPUTS], data: new Float32Array(INPUTS) });
    expect([...found]).toEqual([...(biasCorrection ?? [])]);
  });
});

describe("int8Edge, for embedding tables", () => {
  const width = 64;
  const numbers = Float32Array.from({ length: 3 * width }, (_, i) => Math.sin(i) * (1 + (i >> 5)));
  const table = tensor("float32", [3, width], numbers);
  /** Looks up the rows 2 and 0. */
  const rowsFrom = async (tableBits: 8 | 4) => {
    const graph = new Graph("lookup");
    const ids = graph.input("ids", { dtype: "int64", shape: [symbolicDim("n")] });
    const constant = graph.constant("table", table) as EmbeddingTable;
    expect(int8Edge({ tableBits }).embeddingLookup(graph, "lookup", constant, ids)).toBeDefined();
    return run(graph, { shape: [2], data: Int32Array.of(2, 0) });
  };

  it("returns the dequantized rows: 8 bits with a scale per row", async () => {
    const { values, scales } = quantizeTable(table, { bits: 8, block: width });
    const wanted = [2, 0].flatMap((row) =>
      Array.from(values.data.subarray(row * width, (row + 1) * width), (byte) =>
        Math.fround((byte - 128) * (toFloat32(scales)[row] as number)),
      ),
    );
    expect([...(await rowsFrom(8))]).toEqual(wanted);
  });

  it("returns numbers near those of the table: 4 bits with a scale per row and a multiplier per 16 numbers", async () => {
    const found = await rowsFrom(4);
    for (let block = 0; block < found.length / 16; block++) {
      const from = 16 * block + (block < width / 16 ? 2 * width : -width);
      const wanted = numbers.subarray(from, from + 16);
      const peak = Math.max(...wanted.map(Math.abs));
      wanted.forEach((number, i) => {
        expect(Math.abs((found[16 * block + i] as number) - number)).toBeLessThan(MAX_LEVEL_ERROR * peak);
      });
    }
  });

  it("keeps a 4-bit table in float32 if its width is not a multiple of 32", () => {
    const graph = new Graph("lookup");
    const table = graph.constant("table", tensor("float32", [2, 24], new Float32Array(48))) as EmbeddingTable;
    expect(int8Edge({ tableBits: 4 }).embeddingLookup(graph, "lookup", table, graph.input("ids"))).toBeUndefined();
  });
});
