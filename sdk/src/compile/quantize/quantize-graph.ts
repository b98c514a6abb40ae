import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { inputRole } from "../graph/input-role.ts";
import { int, MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { isView } from "../graph/operators.ts";
import { elementCount, int64s, type Tensor } from "../graph/tensor.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { type LinearLayer, linearLayerOf } from "./linear-layers.ts";
import type { QuantizedWeight, WeightPrecision } from "./weights/quantize-weight.ts";
import type { WeightQuantizer, WorkContext } from "./weights/weight-quantizer.ts";

/** Embedding tables with fewer elements than this stay in float32. Quantizing them saves too little in onnxruntime. */
const MIN_TABLE_ELEMENTS = 1 << 18;

/** Writes quantized nodes for one kind of engine. Every function adds nodes to `graph` and returns their result. */
export interface QuantizationScheme {
  /** Precision of the weight matrices of linear layers. */
  readonly weights: WeightPrecision;
  readonly linearLayer: (graph: Graph, layer: LinearLayer, weight: QuantizedWeight) => Value;
  /** Adds attention together with its projections. Returns undefined if the scheme has no operator for this node. */
  readonly packedAttention?: (
    graph: Graph,
    layer: LinearLayer,
    weight: QuantizedWeight,
    node: Node,
  ) => Value | undefined;
  /** Adds attention for projected queries, keys and values, to replace `node`. Default: float32 MultiHeadAttention. */
  readonly attention?: (graph: Graph, node: Node, inputs: AttentionInputs) => Value;
  /** Adds a lookup of table rows by token id. Returns undefined if the scheme cannot quantize this table. */
  readonly embeddingLookup: (graph: Graph, name: string, table: EmbeddingTable, ids: Value) => Value | undefined;
  /** Embedding tables with fewer elements than this stay in float32. Default: `MIN_TABLE_ELEMENTS`. */
  readonly minTableElements?: number;
}

/** Constant float32 [rows, width]. */
export type EmbeddingTable = Value & { readonly constant: Tensor };

interface AttentionInputs {
  /** [batch, sequence, hidden]. `key` and `value` have the same shape. */
  readonly query: Value | undefined;
  readonly key: Value | undefined;
  readonly value: Value | undefined;
  /** Attention mask [batch, sequence], 1 for tokens. */
  readonly mask: Value | undefined;
  /** Bias that is added to the attention scores. */
  readonly bias: Value | undefined;
}

export interface QuantizeGraphOptions extends WorkContext {
  /** Returns whether to quantize the node with this name. Default: all nodes. */
  readonly isChosen?: (name: string) => boolean;
}

/**
 * Copies a fused graph and quantizes its linear layers and large embedding tables. Nodes whose weights are not constants
 * stay in float32.
 */
export async function quantizeGraph(
  fused: Graph,
  scheme: QuantizationScheme,
  quantizeWeights: WeightQuantizer,
  { isChosen = () => true, ...context }: QuantizeGraphOptions = {},
): Promise<Graph> {
  const graph = copyGraph(fused);
  const nodes = graph.sorted().filter(({ name }) => isChosen(name));
  const layers = nodes.flatMap((node) => linearLayerOf(node) ?? []);
  const weights = await quantizeWeights(layers, scheme.weights, context);
  for (const node of nodes) {
    const result = quantized(graph, node, scheme, weights);
    if (result) graph.replace(node.output, result);
  }
  graph.prune();
  inferShapes(graph);
  return graph;
}

/** Names of the nodes that have weights to quantize. */
export const quantizableNodes = (graph: Graph): string[] =>
  graph
    .sorted()
    .filter((node) => linearLayerOf(node) || embeddingTableOf(node))
    .map(({ name }) => name);

/** Names of the nodes that look up token embeddings. */
export const embeddingNodes = (graph: Graph): string[] =>
  graph
    .sorted()
    .filter((node) => embeddingTableOf(node))
    .map(({ name }) => name);

/** The token embedding tables, each once. */
export const embeddingTables = (graph: Graph): EmbeddingTable[] => [
  ...new Set(graph.sorted().flatMap((node) => embeddingTableOf(node) ?? [])),
];

function quantized(
  graph: Graph,
  node: Node,
  scheme: QuantizationScheme,
  weights: ReadonlyMap<string, QuantizedWeight>,
): Value | undefined {
  const layer = linearLayerOf(node);
  const weight = layer && weights.get(layer.weight.name);
  if (layer && weight && node.is("MatMul")) return scheme.linearLayer(graph, layer, weight);
  if (layer && weight)
    return scheme.packedAttention?.(graph, layer, weight, node) ?? splitAttention(graph, layer, weight, node, scheme);
  if (node.is("MultiHeadAttention", MICROSOFT)) return multiHeadAttention(graph, node, scheme);
  if (node.is("Gather")) return tableLookup(graph, node, scheme);
  if (node.is("EmbedLayerNormalization", MICROSOFT)) return embeddings(graph, node, scheme);
  return undefined;
}

/**
 * Replaces Attention(x, W, b) with a linear layer x · W + b, a Split into queries, keys and values, and the scheme's
 * attention.
 */
function splitAttention(
  graph: Graph,
  layer: LinearLayer,
  weight: QuantizedWeight,
  node: Node,
  scheme: QuantizationScheme,
): Value {
  const { name } = layer;
  const projected = scheme.linearLayer(graph, { ...layer, name: `${name}.qkv` }, weight);
  const outputs = ["q", "k", "v"].map((part) => `${name}.${part}`);
  // From opset 18 on, a Split without sizes needs num_outputs: https://onnx.ai/onnx/operators/onnx__Split.html
  const needsCount = (graph.opsets.get("") ?? 1) >= 18;
  const [query, key, value] = graph.add("Split", [projected], {
    name: `${name}.split`,
    outputs,
    attributes: { axis: int(-1), ...(needsCount && { num_outputs: int(outputs.length) }) },
  }).outputs;
  const [, , , mask, , bias] = node.inputs;
  const attention = attentionOf(scheme, node);
  if (attention) return attention(graph, node, { query, key, value, mask, bias });
  const inputs = [query, key, value, undefined, mask, bias];
  return graph.add("MultiHeadAttention", inputs, { name, domain: MICROSOFT, attributes: node.attributes }).output;
}

function multiHeadAttention(graph: Graph, node: Node, scheme: QuantizationScheme): Value | undefined {
  const [query, key, value, projectionBias, mask, bias, past] = node.inputs;
  const attention = attentionOf(scheme, node);
  if (!attention || !query || !key || !value || projectionBias || past) return undefined;
  return attention(graph, node, { query, key, value, mask, bias });
}

/** Returns the scheme's attention; undefined for causal attention, which schemes do not support. */
const attentionOf = ({ attention }: QuantizationScheme, node: Node): QuantizationScheme["attention"] =>
  node.int("unidirectional") ? undefined : attention;

/** Quantizes an embedding table that a Gather looks up. */
function tableLookup(graph: Graph, node: Node, scheme: QuantizationScheme): Value | undefined {
  const [, ids] = node.inputs;
  const table = embeddingTableOf(node, scheme.minTableElements);
  return table && ids && scheme.embeddingLookup(graph, node.name, table, ids);
}

/** Returns the token embedding table that a node looks up; undefined for other nodes and for small tables. */
function embeddingTableOf(node: Node, minElements = MIN_TABLE_ELEMENTS): EmbeddingTable | undefined {
  const [first, , third] = node.inputs;
  if (node.is("EmbedLayerNormalization", MICROSOFT)) return isTable(third) ? third : undefined;
  const isLookup = node.is("Gather") && (node.int("axis") ?? 0) === 0 && isTokenIds(node.inputs[1]);
  return isLookup && isTable(first) && elementCount(first.constant.shape) >= minElements ? first : undefined;
}

/**
 * Whether a value is the graph's input of token ids, possibly cast or reshaped. Tables of positions and token types are
 * small, so they are not worth quantizing.
 */
const isTokenIds = (value: Value | undefined): boolean =>
  value?.producer
    ? (isView(value.producer) || value.producer.is("Cast")) && isTokenIds(value.producer.inputs[0])
    : value?.constant === undefined &&
      value?.name !== "position_ids" &&
      inputRole(value?.name ?? "") !== "token_type_ids";

const isTable = (value: Value | undefined): value is EmbeddingTable =>
  value?.constant?.dtype === "float32" && value.constant.shape.length === 2;

/** Adds LayerNorm(token + type + position embeddings) with a quantized token embedding table. */
function embeddings(graph: Graph, node: Node, scheme: QuantizationScheme): Value | undefined {
  const { name, inputs, attributes } = node;
  const [ids, types, , positionTable, typeTable, gamma, beta, , positionIds] = inputs;
  const tokenTable = embeddingTableOf(node);
  if (!ids || !tokenTable || !positionTable || !gamma || !beta) return undefined;
  const tokens = scheme.embeddingLookup(graph, `${name}.tokens`, tokenTable, ids);
  if (!tokens) return undefined;
  const positions = positionIds
    ? graph.add("Gather", [positionTable, positionIds], { name: `${name}.positions` }).output
    : firstRows(graph, name, positionTable, ids);
  const typed = types && graph.add("Gather", [typeTable, types], { name: `${name}.types` }).output;
  const added = typed ? graph.add("Add", [typed, positions], { name: `${name}.added` }).output : positions;
  const { epsilon } = attributes;
  const options = { name, domain: MICROSOFT, attributes: { ...(epsilon && { epsilon }) } };
  return graph.add("SkipLayerNormalization", [tokens, added, gamma, beta], options).output;
}

/** Returns the first rows of the position table, one per token: [sequence, hidden]. */
function firstRows(graph: Graph, name: string, table: Value, ids: Value): Value {
  const shape = graph.add("Shape", [ids], { name: `${name}.shape` }).output;
  const [axis0, axis1] = [int64s(0), int64s(1)].map((axis, i) => graph.constant(`${name}.axis${i}`, axis));
  const length = graph.add("Gather", [shape, axis1], { name: `${name}.length` }).output;
  return graph.add("Slice", [table, axis0, length, axis0], { name: `${name}.positions` }).output;
}
