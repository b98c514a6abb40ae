import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import type { Tensor } from "../../graph/tensor.ts";
import { transposedMatrix } from "../../graph/transposed-matrix.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { unpackAttention } from "./unpack-attention.ts";

export interface ExposedMatMuls {
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
