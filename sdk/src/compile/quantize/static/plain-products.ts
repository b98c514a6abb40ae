import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import type { Tensor } from "../../graph/tensor.ts";
import { transposedMatrix } from "../../graph/transposed-matrix.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { projectedAttention } from "./projected-attention.ts";

export interface PlainProducts {
  /** A copy, in which all products with constant matrices [in, out] are MatMul and Gemm, but for unusual attentions. */
  readonly graph: Graph;
  /** The inputs and results of its nodes, by those of the original. */
  readonly twins: ReadonlyMap<Value, Value>;
}

export function plainProducts(original: Graph): PlainProducts {
  const graph = copyGraph(original);
  const copies = [...graph.nodes];
  const turned = new Map<Value, Value>();
  const twins = new Map(original.inputs.map((input, i) => [input, graph.inputs[i] as Value]));
  for (const [i, { outputs }] of original.sorted().entries()) {
    const copy = copies[i] as Node;
    const plain = copy.is("Attention", MICROSOFT) ? projectedAttention(graph, copy) : untransposed(graph, copy, turned);
    if (plain) graph.replace(copy.output, plain);
    outputs.forEach((output, j) => {
      const twin = plain && j === 0 ? plain : copy.outputs[j];
      if (output && twin) twins.set(output, twin);
    });
  }
  graph.prune();
  inferShapes(graph);
  return { graph, twins };
}

/** MatMul and Gemm of a computed tensor and a constant matrix in float32, in order. */
export const productsIn = (graph: Graph): Node[] =>
  graph.sorted().filter(({ opType, domain, inputs: [x, weight] }) => {
    const isProduct = domain === "" && (opType === "MatMul" || opType === "Gemm");
    return isProduct && x?.dtype === "float32" && !x.isConstant && weight !== undefined && isMatrix(weight);
  });

/**
 * x · Wᵀ = x · V with constant V
 *
 * @param turned matrices that are transposed already: layers that share theirs go on sharing them
 */
function untransposed(graph: Graph, node: Node, turned: Map<Value, Value>): Value | undefined {
  const { name, origin, opType, inputs, attributes } = node;
  const [x, weight, ...bias] = inputs;
  const found = weight && (node.is("MatMul") || node.is("Gemm")) ? constantMatrix(weight) : undefined;
  const { transB: _, ...others } = attributes;
  if (!found || (found.matrix === weight && node.int("transB") !== 1)) return undefined;
  const matrix =
    found.isTransposed === (node.int("transB") === 1) ? found.matrix : transposedOf(graph, found.matrix, turned);
  return graph.add(opType, [x, matrix, ...bias], { name, origin, attributes: others }).output;
}

function transposedOf(graph: Graph, matrix: Value, turned: Map<Value, Value>): Value {
  const result =
    turned.get(matrix) ?? graph.constant(`${matrix.name}.transposed`, transposedMatrix(matrix.constant as Tensor));
  turned.set(matrix, result);
  return result;
}

/** The constant behind a weight, which unfused graphs transpose as they run. */
function constantMatrix(value: Value): { matrix: Value; isTransposed: boolean } | undefined {
  if (isMatrix(value)) return { matrix: value, isTransposed: false };
  const { producer } = value;
  const [source] = producer?.inputs ?? [];
  const found = source && (producer?.is("Transpose") || producer?.is("Identity")) ? constantMatrix(source) : undefined;
  if (!found || !producer?.is("Transpose") || producer.ints("perm")?.[0] === 0) return found;
  return { matrix: found.matrix, isTransposed: !found.isTransposed };
}

const isMatrix = ({ constant }: Value) => constant?.dtype === "float32" && constant.shape.length === 2;
