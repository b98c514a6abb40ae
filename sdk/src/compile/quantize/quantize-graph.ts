import { int } from "../graph/attribute.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { elementCount, int64s, type Tensor } from "../graph/tensor.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { type Product, productOf } from "./products.ts";

/** Elements of a table that is worth an operator of its own. */
const MIN_TABLE = 1 << 18;

/** How one kind of engine wants a quantized graph. Every part makes nodes of `graph` and returns their result. */
export interface Form {
  readonly product: (graph: Graph, product: Product) => Value;
  /** An attention with its projections in one operator; undefined where there is none for it. */
  readonly attention?: (graph: Graph, product: Product, node: Node) => Value | undefined;
  /** Attention of projected parts, in place of `node`. Default: MultiHeadAttention in float32. */
  readonly context?: (graph: Graph, node: Node, parts: AttentionParts) => Value;
  /** Rows of a constant table, by index; undefined for tables that it cannot take. */
  readonly lookup: (graph: Graph, name: string, table: Table, ids: Value) => Value | undefined;
  /** Elements from which on a table of words counts. Default: what onnxruntime gains from. */
  readonly leastTable?: number;
}

/** A constant, float32 [rows, width]. */
export type Table = Value & { readonly constant: Tensor };

interface AttentionParts {
  /** Each [batch, sequence, hidden]. */
  readonly query: Value | undefined;
  readonly key: Value | undefined;
  readonly value: Value | undefined;
  /** [batch, sequence], 1 for tokens. */
  readonly mask: Value | undefined;
  /** Added to scores. */
  readonly bias: Value | undefined;
}

/**
 * A copy of a fused graph with its products and large tables quantized. Nodes whose weights are not constants stay as they
 * are, and so do those that are not chosen.
 *
 * @param isChosen by a node's name
 */
export function quantizeGraph(fused: Graph, form: Form, isChosen: (name: string) => boolean = () => true): Graph {
  const graph = copyGraph(fused);
  for (const node of graph.sorted()) {
    if (!isChosen(node.name)) continue;
    const result = quantized(graph, node, form);
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
    .filter((node) => productOf(node) || tableOf(node))
    .map(({ name }) => name);

/** Names of the nodes that look up words. */
export const tableNodes = (graph: Graph): string[] =>
  graph
    .sorted()
    .filter((node) => tableOf(node))
    .map(({ name }) => name);

function quantized(graph: Graph, node: Node, form: Form): Value | undefined {
  const product = productOf(node);
  if (product && node.is("MatMul")) return form.product(graph, product);
  if (product) return form.attention?.(graph, product, node) ?? splitAttention(graph, product, node, form);
  if (node.is("MultiHeadAttention", MICROSOFT)) return multiHeadAttention(graph, node, form);
  if (node.is("Gather")) return tableLookup(graph, node, form);
  if (node.is("EmbedLayerNormalization", MICROSOFT)) return embeddings(graph, node, form);
  return undefined;
}

/** Attention(x, W, b) = context(parts of x · W + b) */
function splitAttention(graph: Graph, product: Product, node: Node, form: Form): Value {
  const { name } = product;
  const projected = form.product(graph, { ...product, name: `${name}.qkv` });
  const outputs = ["q", "k", "v"].map((part) => `${name}.${part}`);
  // https://onnx.ai/onnx/operators/onnx__Split.html
  const isExplicit = (graph.opsets.get("") ?? 1) >= 18;
  const [query, key, value] = graph.add("Split", [projected], {
    name: `${name}.split`,
    outputs,
    attributes: { axis: int(-1), ...(isExplicit && { num_outputs: int(outputs.length) }) },
  }).outputs;
  const [, , , mask, , bias] = node.inputs;
  const context = contextOf(form, node);
  if (context) return context(graph, node, { query, key, value, mask, bias });
  const inputs = [query, key, value, undefined, mask, bias];
  return graph.add("MultiHeadAttention", inputs, { name, domain: MICROSOFT, attributes: node.attributes }).output;
}

function multiHeadAttention(graph: Graph, node: Node, form: Form): Value | undefined {
  const [query, key, value, projectionBias, mask, bias, past] = node.inputs;
  const context = contextOf(form, node);
  if (!context || !query || !key || !value || projectionBias || past) return undefined;
  return context(graph, node, { query, key, value, mask, bias });
}

/** A form's own attention sees all keys; one that looks back alone stays in float32. */
const contextOf = ({ context }: Form, node: Node): Form["context"] =>
  node.int("unidirectional") ? undefined : context;

/** A word table that is looked up on its own. */
function tableLookup(graph: Graph, node: Node, form: Form): Value | undefined {
  const [, ids] = node.inputs;
  const table = tableOf(node, form.leastTable);
  return table && ids && form.lookup(graph, node.name, table, ids);
}

/** The table of words that a node looks up, if it does. */
function tableOf(node: Node, least = MIN_TABLE): Table | undefined {
  const [first, , third] = node.inputs;
  if (node.is("EmbedLayerNormalization", MICROSOFT)) return isTable(third) ? third : undefined;
  const isLookup = node.is("Gather") && (node.int("axis") ?? 0) === 0 && isGiven(node.inputs[1]);
  return isLookup && isTable(first) && elementCount(first.constant.shape) >= least ? first : undefined;
}

/** Whether a value is the graph's input of words, but for its type and shape: positions are computed, types are few. */
const isGiven = (value: Value | undefined): boolean =>
  value?.producer
    ? /^(Cast|Reshape|Squeeze|Unsqueeze|Flatten|Identity)$/.test(value.producer.opType) &&
      isGiven(value.producer.inputs[0])
    : value?.constant === undefined && value?.name !== "position_ids" && value?.name !== "token_type_ids";

const isTable = (value: Value | undefined): value is Table =>
  value?.constant?.dtype === "float32" && value.constant.shape.length === 2;

/** LayerNorm(words + types + positions), with the word table, most of a small model's bytes, quantized. */
function embeddings(graph: Graph, node: Node, form: Form): Value | undefined {
  const { name, inputs, attributes } = node;
  const [ids, types, , position, type, gamma, beta, , positionIds] = inputs;
  const word = tableOf(node);
  if (!ids || !word || !position || !gamma || !beta) return undefined;
  const words = form.lookup(graph, `${name}.words`, word, ids);
  if (!words) return undefined;
  const positions = positionIds
    ? graph.add("Gather", [position, positionIds], { name: `${name}.positions` }).output
    : firstRows(graph, name, position, ids);
  const typed = types && graph.add("Gather", [type, types], { name: `${name}.types` }).output;
  const placed = typed ? graph.add("Add", [typed, positions], { name: `${name}.placed` }).output : positions;
  const { epsilon } = attributes;
  const options = { name, domain: MICROSOFT, attributes: { ...(epsilon && { epsilon }) } };
  return graph.add("SkipLayerNormalization", [words, placed, gamma, beta], options).output;
}

/** The positions from 0 on, as many as there are tokens: [sequence, hidden]. */
function firstRows(graph: Graph, name: string, table: Value, ids: Value): Value {
  const shape = graph.add("Shape", [ids], { name: `${name}.shape` }).output;
  const [axis0, axis1] = [int64s(0), int64s(1)].map((axis, i) => graph.constant(`${name}.axis${i}`, axis));
  const length = graph.add("Gather", [shape, axis1], { name: `${name}.length` }).output;
  return graph.add("Slice", [table, axis0, length, axis0], { name: `${name}.positions` }).output;
}
