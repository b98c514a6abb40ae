import { type Dim, type Shape, sameDim, symbolsOf } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";

/**
 * Returns the reason why onnxruntime has no operator for a sub-layer of several nodes, so that no rule can fuse the sub-layer.
 * Returns undefined if there is no such reason.
 *
 * @param node a typical node of the sub-layer, such as Softmax for attention
 */
export function whyNoOperator(graph: Graph, pattern: string, node: Node): string | undefined {
  if (isQuantizedInside(node)) return "values inside the sub-layer are quantized";
  return pattern === "Attention" && node.is("Softmax") ? whyUnlikeAttention(graph, node) : undefined;
}

/** Whether the input or the output of a node is quantized. */
const isQuantizedInside = (node: Node): boolean =>
  node.inputs[0]?.producer?.is("DequantizeLinear") === true || isQuantized(node.output);

/** Whether a value is quantized, perhaps after NaN is replaced or the type is converted. */
const isQuantized = ({ users }: Value): boolean =>
  [...users].some((user) =>
    user.is("Where") || user.is("Cast")
      ? isQuantized(user.output)
      : user.is("QuantizeLinear") || user.is("DynamicQuantizeLinear"),
  );

/** Maximum number of nodes to search before a softmax. Windowed attention has the most, about 150. */
const MAX_NODES = 512;

/**
 * Returns the reason why onnxruntime's attention operators cannot compute the sub-layer of a softmax. Returns undefined if
 * there is no such reason. The reasons are properties of the model, not of the way in which it was exported.
 */
function whyUnlikeAttention(graph: Graph, softmax: Node): string | undefined {
  if (isOutput(graph, softmax.output)) return "the attention probabilities are also an output of the model";
  const { projections, products } = sourcesOf(softmax);
  if (products.length === 0 && projections.length === 1 && isOneChain(softmax))
    return "the softmax is over the result of a linear layer, not over scores of queries and keys";
  const lengths = softmax.inputs[0]?.shape?.slice(-2) ?? [];
  const rows = projections.flatMap(({ shape = [] }) => (shape.length === 3 ? shape.slice(0, -1) : []));
  const isWhole = projections.length === 0 || projections.some(({ shape }) => shape?.length !== 3);
  return !isWhole && lengths.some((length) => isAnother(graph, length, rows))
    ? "the scores are of a part of the sequence or of landmarks, not of all queries and keys"
    : undefined;
}

/** Whether a value is also an output of the graph, perhaps after NaN is replaced or the type is converted. */
const isOutput = (graph: Graph, value: Value): boolean =>
  graph.isOutput(value) ||
  [...value.users].some((user) => (user.is("Where") || user.is("Cast")) && isOutput(graph, user.output));

const isMatMul = (node: Node) => node.domain === "" && /^(MatMul|Einsum|Gemm)$/.test(node.opType);
const computed = (node: Node) =>
  node.inputs.filter((input): input is Value => input !== undefined && !input.isConstant);

/** Searches back from a softmax. Finds the products of two computed tensors, and the first linear layer on each path. */
function sourcesOf(softmax: Node): { projections: readonly Value[]; products: readonly Node[] } {
  const projections = new Set<Value>();
  const products: Node[] = [];
  const seen = new Set([softmax]);
  for (const node of seen) {
    if (seen.size > MAX_NODES) break;
    for (const { producer } of computed(node)) {
      if (!producer || seen.has(producer)) continue;
      if (isMatMul(producer) && computed(producer).length < 2) projections.add(producer.output);
      else {
        seen.add(producer);
        if (isMatMul(producer)) products.push(producer);
      }
    }
  }
  return { projections: [...projections], products };
}

/** Whether a chain of nodes that each read only one computed tensor leads from a linear layer to a softmax. */
function isOneChain(softmax: Node): boolean {
  let node: Node | undefined = softmax;
  while (node && !isMatMul(node)) {
    const [only, ...more]: readonly Value[] = computed(node);
    node = more.length === 0 ? only?.producer : undefined;
  }
  return node !== undefined;
}

/**
 * Whether a length of the scores is fixed and differs from all `rows`, the sizes of the linear layers. A size that no input of
 * the graph has is unknown and may equal any length, so the result is then false.
 */
function isAnother(graph: Graph, length: Dim, rows: Shape): boolean {
  if (typeof length !== "number") return false;
  const open = new Set(graph.inputs.flatMap(({ shape = [] }) => shape.flatMap((dim) => [...symbolsOf(dim)])));
  const isKnown = (dim: Dim) => typeof dim === "number" || [...symbolsOf(dim)].every((symbol) => open.has(symbol));
  return rows.every((dim) => isKnown(dim) && !sameDim(dim, length));
}
