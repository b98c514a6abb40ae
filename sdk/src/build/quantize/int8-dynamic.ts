import { int } from "../graph/attribute.ts";
import { copyGraph } from "../graph/copy.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { elementCount, int64s, type Tensor } from "../graph/tensor.ts";
import { inferShapes } from "../shapes/infer.ts";
import { quantizeColumns } from "./per-column.ts";
import { quantizeRowBlocks } from "./row-blocks.ts";

/** GatherBlockQuantized takes powers of two from 16; a smaller block costs table size, a larger one accuracy. */
const blockSizes = [128, 64, 32, 16];

/** Elements from which on a table counts: positions and relative biases are smaller. */
const MIN_TABLE = 1 << 18;

/** @returns the value that takes the place of the node's output; undefined where the node stays as it is */
type Rule = (graph: Graph, node: Node) => Value | undefined;

/**
 * Dynamic int8 for onnxruntime's CPU kernels, native and WebAssembly: weights int8 with a scale per output channel,
 * activations uint8 with scale and zero point found at run time, everything between the matrix products in float32.
 *
 * A node whose weights are not constants stays as it is.
 */
export function quantizeInt8Dynamic(fused: Graph): Graph {
  const graph = copyGraph(fused);
  for (const node of graph.sorted()) {
    const result = rules[`${node.domain}:${node.opType}`]?.(graph, node);
    if (result) graph.replace(node.output, result);
  }
  graph.prune();
  inferShapes(graph);
  return graph;
}

const rules: Record<string, Rule> = {
  // x · W → dynamically quantized x · int8 W
  ":MatMul"(graph, { name, inputs: [x, weight] }) {
    return weight?.constant?.shape.length === 2 ? quantizedProduct(graph, name, x, weight) : undefined;
  },

  // Attention(x, W, b, mask) → QAttention(uint8 x, int8 W, b, scales, mask, zero point)
  [`${MICROSOFT}:Attention`](graph, node) {
    const { name, inputs, attributes } = node;
    const [x, weight, bias, mask, past, positionBias] = inputs;
    if (weight?.constant?.shape.length !== 2 || !bias || past) return undefined;
    if (positionBias) return splitAttention(graph, node, weight, bias);
    const quantized = quantizeColumns(weight.constant);
    const outputs = ["uint8", "scale", "zero_point"].map((part) => `${name}.x.${part}`);
    const [data, scale, zeroPoint] = graph.add("DynamicQuantizeLinear", [x], { name: `${name}.x`, outputs }).outputs;
    const quantizedWeight = graph.constant(`${weight.name}.int8`, quantized.weight);
    const weightScale = graph.constant(`${weight.name}.scale`, quantized.scale);
    const all = [data, quantizedWeight, bias, scale, weightScale, mask, zeroPoint];
    return graph.add("QAttention", all, { name, domain: MICROSOFT, attributes }).output;
  },

  // A word table that is looked up on its own.
  ":Gather"(graph, { name, inputs: [table, ids], attributes }) {
    const axis = attributes["axis"];
    if (table?.constant?.dtype !== "float32" || !ids || (axis?.kind === "int" && axis.value !== 0)) return undefined;
    return elementCount(table.constant.shape) < MIN_TABLE ? undefined : quantizedLookup(graph, name, table, ids);
  },

  // The word table, most of a small model's bytes, in 8 bits; LayerNorm(words + types + positions) as before.
  [`${MICROSOFT}:EmbedLayerNormalization`](graph, { name, inputs, attributes }) {
    const [ids, types, word, position, type, gamma, beta, , positionIds] = inputs;
    if (!ids || !word?.constant || !position || !gamma || !beta) return undefined;
    const words = quantizedLookup(graph, `${name}.words`, word, ids);
    if (!words) return undefined;
    const positions = positionIds
      ? graph.add("Gather", [position, positionIds], { name: `${name}.positions` }).output
      : firstRows(graph, name, position, ids);
    const typed = types && graph.add("Gather", [type, types], { name: `${name}.types` }).output;
    const placed = typed ? graph.add("Add", [typed, positions], { name: `${name}.placed` }).output : positions;
    const options = { name, domain: MICROSOFT, attributes };
    return graph.add("SkipLayerNormalization", [words, placed, gamma, beta], options).output;
  },
};

/** Rows of a table [rows, width] in 8 bits, by index; undefined for widths that no block divides. */
function quantizedLookup(graph: Graph, name: string, table: Value, ids: Value): Value | undefined {
  const [, width = 0] = table.constant?.shape.length === 2 ? table.constant.shape : [];
  const block = blockSizes.find((size) => width > 0 && width % size === 0);
  if (!block) return undefined;
  const quantized = quantizeRowBlocks(table.constant as Tensor, block);
  const rows = graph.constant(`${table.name}.uint8`, quantized.table);
  const scales = graph.constant(`${table.name}.scales`, quantized.scales);
  return graph.add("GatherBlockQuantized", [rows, ids, scales], {
    name,
    domain: MICROSOFT,
    attributes: { bits: int(8), block_size: int(block), gather_axis: int(0), quantize_axis: int(1) },
  }).output;
}

function quantizedProduct(graph: Graph, name: string, x: Value | undefined, weight: Value, bias?: Value): Value {
  const quantized = quantizeColumns(weight.constant as Tensor);
  const columns = graph.constant(`${weight.name}.int8`, quantized.weight);
  const scale = graph.constant(`${weight.name}.scale`, quantized.scale);
  const inputs = bias ? [x, columns, scale, undefined, bias] : [x, columns, scale];
  return graph.add("DynamicQuantizeMatMul", inputs, { name, domain: MICROSOFT }).output;
}

/** QAttention adds no bias to scores; where there is one, the projections are quantized and the attention is not. */
function splitAttention(graph: Graph, { name, inputs, attributes }: Node, weight: Value, bias: Value): Value {
  const [x, , , mask, , positionBias] = inputs;
  const projected = quantizedProduct(graph, `${name}.qkv`, x, weight, bias);
  const outputs = ["q", "k", "v"].map((part) => `${name}.${part}`);
  const parts = graph.add("Split", [projected], {
    name: `${name}.split`,
    outputs,
    attributes: { axis: int(-1) },
  }).outputs;
  const all = [...parts, undefined, mask, positionBias];
  return graph.add("MultiHeadAttention", all, { name, domain: MICROSOFT, attributes }).output;
}

/** The positions from 0 on, as many as there are tokens: [sequence, hidden]. */
function firstRows(graph: Graph, name: string, table: Value, ids: Value): Value {
  const shape = graph.add("Shape", [ids], { name: `${name}.shape` }).output;
  const [axis0, axis1] = [int64s(0), int64s(1)].map((axis, i) => graph.constant(`${name}.axis${i}`, axis));
  const length = graph.add("Gather", [shape, axis1], { name: `${name}.length` }).output;
  return graph.add("Slice", [table, axis0, length, axis0], { name: `${name}.positions` }).output;
}
