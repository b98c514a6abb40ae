import { gatherColumns } from "../../fusions/attention/projection.ts";
import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import type { Tensor } from "../../graph/tensor.ts";
import { transposedMatrix } from "../../graph/tensor-math.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";

interface ExposedMatMuls {
  readonly graph: Graph;
  /** Maps inputs and results of the original graph to the values of the copy. */
  readonly copies: ReadonlyMap<Value, Value>;
}

/**
 * Copies a graph so that its linear layers are MatMul or Gemm nodes with constant weights [in, out]. Weights that the
 * model transposes on every run are transposed once, here. The projections of Attention become MatMuls. Attention that
 * `unpackAttention` does not support stays as it is.
 */
export function exposeMatMuls(original: Graph): ExposedMatMuls {
  const graph = copyGraph(original);
  const nodes = [...graph.nodes];
  const transposedBefore = new Map<Value, Value>();
  const copies = new Map(original.inputs.map((input, i) => [input, graph.inputs[i] as Value]));
  for (const [i, { outputs }] of original.sorted().entries()) {
    const copy = nodes[i] as Node;
    const exposed = copy.is("Attention", MICROSOFT)
      ? unpackAttention(graph, copy)
      : untransposed(graph, copy, transposedBefore);
    if (exposed) graph.replace(copy.output, exposed);
    outputs.forEach((output, j) => {
      const result = exposed && j === 0 ? exposed : copy.outputs[j];
      if (output && result) copies.set(output, result);
    });
  }
  graph.prune();
  inferShapes(graph);
  return { graph, copies };
}

/** Returns the MatMuls and Gemms that multiply a computed tensor by a constant float32 matrix, in topological order. */
export const constantMatMuls = (graph: Graph): Node[] =>
  graph.sorted().filter(({ opType, domain, inputs: [x, weight] }) => {
    const isMatMul = domain === "" && (opType === "MatMul" || opType === "Gemm");
    return isMatMul && x?.dtype === "float32" && !x.isConstant && weight !== undefined && isMatrix(weight);
  });

/**
 * Replaces x · Wᵀ with x · V, where the constant V is the transposed W.
 *
 * @param transposedBefore results of earlier calls: transposed matrices, by original matrix. Layers that share an
 *   original matrix thus share the transposed matrix too.
 * @returns undefined when there is nothing to transpose
 */
function untransposed(graph: Graph, node: Node, transposedBefore: Map<Value, Value>): Value | undefined {
  const { name, origin, opType, inputs, attributes } = node;
  const [x, weight, ...bias] = inputs;
  const found = weight && (node.is("MatMul") || node.is("Gemm")) ? constantMatrix(weight) : undefined;
  const { transB: _, ...others } = attributes;
  if (!found || (found.matrix === weight && node.int("transB") !== 1)) return undefined;
  const matrix =
    found.isTransposed === (node.int("transB") === 1)
      ? found.matrix
      : transposedOf(graph, found.matrix, transposedBefore);
  return graph.add(opType, [x, matrix, ...bias], { name, origin, attributes: others }).output;
}

function transposedOf(graph: Graph, matrix: Value, transposedBefore: Map<Value, Value>): Value {
  const result =
    transposedBefore.get(matrix) ??
    graph.constant(`${matrix.name}.transposed`, transposedMatrix(matrix.constant as Tensor));
  transposedBefore.set(matrix, result);
  return result;
}

/** Finds the constant matrix behind Transpose and Identity nodes. Unfused graphs transpose weights at run time. */
function constantMatrix(value: Value): { matrix: Value; isTransposed: boolean } | undefined {
  if (isMatrix(value)) return { matrix: value, isTransposed: false };
  const { producer } = value;
  const [source] = producer?.inputs ?? [];
  const found = source && (producer?.is("Transpose") || producer?.is("Identity")) ? constantMatrix(source) : undefined;
  if (!found || !producer?.is("Transpose") || producer.ints("perm")?.[0] === 0) return found;
  return { matrix: found.matrix, isTransposed: !found.isTransposed };
}

const isMatrix = ({ constant }: Value) => constant?.dtype === "float32" && constant.shape.length === 2;

/**
 * Supported attributes of Attention. MultiHeadAttention has the same attributes, except qkv_hidden_sizes, which
 * determines where `unpackAttention` slices the weights.
 */
const supported = new Set(["num_heads", "scale", "mask_filter_value", "unidirectional", "qkv_hidden_sizes"]);

/**
 * Rewrites Attention(x, [Wq Wk Wv], [bq bk bv], mask) as MultiHeadAttention(x · Wq + bq, x · Wk + bk, x · Wv + bv, mask).
 *
 * @returns undefined for attention with computed weights, without bias, with past keys, or with a mask that is not
 *   [batch, keys]
 */
function unpackAttention(graph: Graph, { name, inputs, outputs, attributes }: Node): Value | undefined {
  const [x, weight, bias, mask, past, scoreBias, ...others] = inputs;
  const [matrix, vector] = [weight?.constant, bias?.constant];
  const isSupported = !past && !others.some((input) => input) && !outputs[1] && (!mask || mask.shape?.length === 2);
  const isKnown = Object.keys(attributes).every((attribute) => supported.has(attribute));
  if (matrix?.dtype !== "float32" || matrix.shape.length !== 2 || !vector || !isSupported || !isKnown) return undefined;

  const { qkv_hidden_sizes: sizes, ...shared } = attributes;
  const third = (matrix.shape[1] ?? 0) / 3;
  const widths = sizes?.kind === "ints" ? sizes.value : [third, third, third];
  const parts = ["q", "k", "v"].map((part, i) => {
    const start = widths.slice(0, i).reduce((sum, width) => sum + width, 0);
    const columns = Array.from({ length: widths[i] ?? 0 }, (_, column) => start + column);
    const slice = graph.constant(`${weight?.name}.${part}`, gatherColumns([{ from: matrix, columns }]));
    const matMul = graph.add("MatMul", [x, slice], { name: `${name}.${part}`, origin: name }).output;
    const offset = graph.constant(`${bias?.name}.${part}`, gatherColumns([{ from: vector, columns }]));
    return graph.add("Add", [matMul, offset], { name: `${name}.${part}.biased` }).output;
  });
  const all = [...parts, undefined, mask, scoreBias];
  return graph.add("MultiHeadAttention", all, { name, domain: MICROSOFT, attributes: shared }).output;
}
