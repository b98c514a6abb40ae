import { GraphBuilder } from "../graph/builder.ts";
import { type Graph, int, type Node } from "../graph/plain.ts";
import { int64s, type Tensor } from "../graph/tensor.ts";
import { quantizeColumns } from "./per-column.ts";
import { quantizeRowBlocks } from "./row-blocks.ts";

/** GatherBlockQuantized takes powers of two from 16; a smaller block costs table size, a larger one accuracy. */
const blockSizes = [128, 64, 32, 16];

type Rule = (g: GraphBuilder, node: Node, constant: (name: string) => Tensor | undefined) => boolean;

/**
 * Dynamic int8 for onnxruntime's CPU kernels, native and WebAssembly: weights int8 with a scale per output channel,
 * activations uint8 with scale and zero point found at run time, everything between the matrix products in float32.
 *
 * A node whose weights are not constants stays as it is.
 */
export function quantizeInt8Dynamic(graph: Graph): Graph {
  const g = new GraphBuilder();
  const constant = (name: string) => graph.initializers.get(name);
  for (const node of graph.nodes) {
    if (rules[node.opType]?.(g, node, constant)) continue;
    for (const input of node.inputs) {
      const value = constant(input);
      if (value) g.constant(input, value);
    }
    g.node(node);
  }
  return g.build(`${graph.name}-int8`, graph.inputs, graph.outputs);
}

const rules: Record<string, Rule> = {
  // x · W → dynamically quantized x · int8 W
  MatMul(g, { name, inputs }, constant) {
    const [x = "", weightName = ""] = inputs;
    const weight = constant(weightName);
    if (weight?.shape.length !== 2) return false;
    const quantized = quantizeColumns(weight);
    g.contrib(name, "DynamicQuantizeMatMul", [
      x,
      g.constant(`${weightName}.int8`, quantized.weight),
      g.constant(`${weightName}.scale`, quantized.scale),
    ]);
    return true;
  },

  // Attention(x, W, b, mask) → QAttention(uint8 x, int8 W, b, scales, mask, zero point)
  Attention(g, { name, inputs, attributes }, constant) {
    const [x = "", weightName = "", biasName = "", mask = ""] = inputs;
    const weight = constant(weightName);
    const bias = constant(biasName);
    if (!weight || !bias || inputs.length > 4) return false;
    const quantized = quantizeColumns(weight);
    const [data, scale, zeroPoint] = ["uint8", "scale", "zero_point"].map((part) => `${name}.x.${part}`);
    g.node({
      name: `${name}.x`,
      domain: "",
      opType: "DynamicQuantizeLinear",
      inputs: [x],
      outputs: [data as string, scale as string, zeroPoint as string],
      attributes: {},
    });
    g.contrib(
      name,
      "QAttention",
      [
        data as string,
        g.constant(`${weightName}.int8`, quantized.weight),
        g.constant(biasName, bias),
        scale as string,
        g.constant(`${weightName}.scale`, quantized.scale),
        mask,
        zeroPoint as string,
      ],
      attributes,
    );
    return true;
  },

  // The word table, most of a small model's bytes, in 8 bits; LayerNorm(words + types + positions) as before.
  EmbedLayerNormalization(g, { name, inputs, attributes }, constant) {
    const [ids = "", types = "", ...tables] = inputs;
    const [word, position, type, gamma, beta] = tables.map((table) => [table, constant(table)] as const);
    const width = word?.[1]?.shape[1] ?? 0;
    const block = blockSizes.find((size) => width % size === 0);
    if (!block || !word?.[1] || !position?.[1] || !type?.[1] || !gamma?.[1] || !beta?.[1] || types === "") return false;
    const { table, scales } = quantizeRowBlocks(word[1], block);
    const words = g.contrib(
      `${name}.words`,
      "GatherBlockQuantized",
      [g.constant(`${word[0]}.uint8`, table), ids, g.constant(`${word[0]}.scales`, scales)],
      { bits: int(8), block_size: int(block), gather_axis: int(0), quantize_axis: int(1) },
    );
    const typed = g.op(`${name}.types`, "Gather", [g.constant(type[0], type[1]), types]);
    const shape = g.op(`${name}.shape`, "Shape", [ids]);
    const positions = g.op(`${name}.positions`, "Slice", [
      g.constant(position[0], position[1]),
      g.constant(`${name}.first`, int64s(0)),
      g.op(`${name}.length`, "Gather", [shape, g.constant(`${name}.axis1`, int64s(1))]),
      g.constant(`${name}.axis0`, int64s(0)),
    ]);
    const placed = g.op(`${name}.placed`, "Add", [typed, positions]);
    g.contrib(
      name,
      "SkipLayerNormalization",
      [words, placed, g.constant(gamma[0], gamma[1]), g.constant(beta[0], beta[1])],
      attributes,
    );
    return true;
  },
};
