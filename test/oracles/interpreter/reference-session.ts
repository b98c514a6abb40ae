import { BertEdgeError } from "#sdk/artifact/error.ts";
import { runSubgraph } from "#sdk/compile/evaluate/run-subgraph.ts";
import { inputContent } from "#sdk/compile/evaluate/token-batches.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import type { Node, Value } from "#sdk/compile/graph/node.ts";
import { type DataType, numbersOf, type Tensor, tensor, toFloat32 } from "#sdk/compile/graph/tensor.ts";
import { kernelSupports } from "#sdk/compile/lower/kernel-supports.ts";
import type { TokenSequence } from "#sdk/runtime/engine/engine.ts";
import { idsOf } from "#sdk/runtime/engine/token-sequence.ts";
import { type IntegerProduct, integerProduct } from "../reference/integer-product.ts";
import { floatKernels } from "./float-kernels.ts";
import { integerKernels } from "./integer-kernels.ts";
import type { KernelOutputs, NodeKernel, NodeTensor } from "./node-kernel.ts";

/** Runs a graph on the reference kernels, one text at a time. */
export interface ReferenceSession {
  /** @returns the graph's first output for each sequence, row-major */
  run(sequences: readonly TokenSequence[]): Promise<Float32Array<ArrayBuffer>[]>;
}

/**
 * Interprets a graph with the reference kernels. These kernels give the same results as the edge engine, but are slow.
 * Tests compare the engine with this session, and measure the accuracy of quantized graphs with this session.
 *
 * onnxruntime runs the nodes without a reference kernel (positions, masks, position biases) and all nodes that they
 * depend on. None of these nodes may be a quantized operator.
 *
 * @param product multiplies integer matrices; all implementations give the same result
 * @throws BertEdgeError `engine_unsupported` if a node without a kernel depends on a quantized operator
 */
export function referenceSession(graph: Graph, product: IntegerProduct = integerProduct): ReferenceSession {
  const order = graph.sorted();
  const ortNodes = nodesForOrt(order);
  const kernelNodes = order
    .filter((node) => !ortNodes.has(node))
    .map((node) => ({ node, run: kernelOf(node)?.(node, product) }));
  const boundary = [
    ...new Set(
      kernelNodes
        .flatMap(({ node }) => node.inputs.filter((value) => value !== undefined))
        .filter(({ producer }) => producer && ortNodes.has(producer)),
    ),
  ];
  const constants = new Map(
    [...graph.constants()]
      .filter(({ dtype }) => !isPacked(dtype))
      .map((value) => [value, numbersIn(value.constant as Tensor)]),
  );
  const output = graph.outputs[0]?.value as Value;

  const runOne = async (sequence: TokenSequence): Promise<Float32Array<ArrayBuffer>> => {
    const given = new Map(graph.inputs.map((input) => [input, inputTensor(input, sequence)]));
    const values = new Map<Value, NodeTensor>(constants);
    for (const [value, found] of given) values.set(value, numbersIn(found));
    const computed = boundary.length > 0 ? await runSubgraph(graph, boundary, given) : [];
    boundary.forEach((value, i) => {
      values.set(value, numbersIn(computed?.[i] as Tensor));
    });
    for (const { node, run } of kernelNodes) {
      const results = (await run?.(node.inputs.map((input) => input && values.get(input)))) as KernelOutputs;
      node.outputs.forEach((value, i) => {
        const result = results[i];
        if (value && result) values.set(value, result);
      });
    }
    return values.get(output)?.data as Float32Array<ArrayBuffer>;
  };

  return {
    async run(sequences) {
      const results: Float32Array<ArrayBuffer>[] = [];
      for (const sequence of sequences) results.push(await runOne(sequence));
      return results;
    },
  };
}

const kernelOf = (node: Node): NodeKernel | undefined =>
  integerKernels[`${node.domain}:${node.opType}`] ??
  (kernelSupports(node) ? floatKernels[`${node.domain}:${node.opType}`] : undefined);

/** Returns the nodes that onnxruntime runs: the nodes without a kernel, and all nodes that they depend on. */
function nodesForOrt(order: readonly Node[]): Set<Node> {
  const found = new Set<Node>();
  for (const node of order.toReversed()) {
    const floats = node.output.dtype === undefined || node.output.dtype === "float32";
    if (!readerIn(found, node) && floats && kernelOf(node)) continue;
    if (integerKernels[`${node.domain}:${node.opType}`]) throw unsupported(node, found);
    found.add(node);
  }
  return found;
}

const readerIn = (nodes: ReadonlySet<Node>, { outputs }: Node): Node | undefined =>
  outputs.flatMap((output) => [...(output?.users ?? [])]).find((user) => nodes.has(user));

/**
 * Returns the error for a node without a kernel that depends on `node`, a quantized operator. The error names the node
 * without a kernel.
 */
function unsupported(node: Node, ortNodes: ReadonlySet<Node>): BertEdgeError {
  let last = node;
  for (let reader = readerIn(ortNodes, last); reader; reader = readerIn(ortNodes, last)) last = reader;
  return new BertEdgeError(
    "engine_unsupported",
    `The edge engine has no kernel for ${last.opType} (node ${last.origin}).`,
    { hint: "Use onnxruntime-web for this model." },
  );
}

function inputTensor({ name, dtype }: Value, sequence: TokenSequence): Tensor {
  const ids = idsOf(sequence);
  const values = inputContent(name, sequence);
  const shape = [1, ids.length];
  return dtype === "int32"
    ? tensor("int32", shape, values)
    : tensor("int64", shape, BigInt64Array.from(values, BigInt));
}

/**
 * Whether a constant is quantized. Quantized constants are not passed to kernels as inputs: each kernel reads them from
 * its node.
 */
const isPacked = (dtype: DataType | undefined): boolean => dtype === "uint8" || dtype === "int8";

const numbersIn = (value: Tensor): NodeTensor => ({
  shape: value.shape,
  data: value.dtype === "float32" ? toFloat32(value) : Int32Array.from(numbersOf(value), toInt32),
});

/** Clamps a 64-bit integer to int32. Slices write INT64_MAX for "to the end", which becomes the maximum of int32. */
const toInt32 = (value: number): number => Math.min(Math.max(value, -(2 ** 31)), 2 ** 31 - 1);
