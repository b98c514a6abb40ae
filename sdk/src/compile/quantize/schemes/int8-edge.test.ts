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
    const graph = await quantizedLayer(int8Edge(8, operands), weightQuantizer(toNearest), weight, INPUTS);
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
    const graph = await quantizedLayer(int8Edge(8, operands), weightQuantizer(corrected, statistics), weight, INPUTS);
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
  it.each([
    ["8 bits with a scale per row", 8, 24, { bits: 8, block: 24 }],
    ["4 bits with a scale per 32 numbers", 4, 64, { bits: 4, block: 32 }],
  ] as const)("returns the dequantized rows: %s", async (_, bits, width, precision) => {
    const table = tensor(
      "float32",
      [3, width],
      Float32Array.from({ length: 3 * width }, (_, i) => Math.sin(i) * (1 + (i >> 5))),
    );
    const graph = new Graph("lookup");
    const ids = graph.input("ids", { dtype: "int64", shape: [symbolicDim("n")] });
    const value = int8Edge(bits).embeddingLookup(
      graph,
      "lookup",
      graph.constant("table", table) as EmbeddingTable,
      ids,
    );
    expect(value).toBeDefined();
    const found = await run(graph, { shape: [2], data: Int32Array.of(2, 0) });
    const { values, scales } = quantizeTable(table, precision);
    const wanted = [2, 0].flatMap((row) =>
      Array.from({ length: width }, (_, j) => {
        const at = row * width + j;
        const byte = values.data[Math.floor((at * bits) / 8)] as number;
        const level = (bits === 8 ? byte : (byte >> (at % 2 ? 4 : 0)) & 15) - 2 ** (bits - 1);
        return Math.fround(level * (toFloat32(scales)[Math.floor(at / precision.block)] as number));
      }),
    );
    expect([...found]).toEqual(wanted);
  });

  it("keeps a 4-bit table in float32 if its width is not a multiple of 32", () => {
    const graph = new Graph("lookup");
    const table = graph.constant("table", tensor("float32", [2, 24], new Float32Array(48))) as EmbeddingTable;
    expect(int8Edge(4).embeddingLookup(graph, "lookup", table, graph.input("ids"))).toBeUndefined();
  });
});
