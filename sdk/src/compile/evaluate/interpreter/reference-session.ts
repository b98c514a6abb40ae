import { BertEdgeError } from "../../../artifact/error.ts";
import type { TokenIds } from "../../../runtime/engine/engine.ts";
import { type IntegerProduct, integerProduct } from "../../../runtime/engine/wasm/reference/integer-product.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { type DataType, numbersOf, type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import { runSubgraph } from "../run-subgraph.ts";
import { floatKernels } from "./float-kernels.ts";
import { integerKernels } from "./integer-kernels.ts";
import { kernelSupports } from "./kernel-supports.ts";
import type { KernelOutputs, NodeKernel, NodeTensor } from "./node-kernel.ts";

/** Runs a model text by text. */
export interface ReferenceSession {
  /** @returns for every sequence the graph's first output, row-major */
  run(sequences: readonly TokenIds[]): Promise<Float32Array<ArrayBuffer>[]>;
}

/**
 * The edge engine's arithmetic in plain code, step by step as written in this folder: what every kernel of the engine is
 * tested against, and what a precision's accuracy is measured with. Slow.
 *
 * What has no kernel (positions, masks, biases that follow from positions) is left to onnxruntime, as far as it comes before
 * everything that has one.
 *
 * @param product how integers are multiplied; every way gives the same
 * @throws BertEdgeError `engine_unsupported` when an operator without a kernel works on tokens
 */
export function referenceSession(graph: Graph, product: IntegerProduct = integerProduct): ReferenceSession {
  const order = graph.sorted();
  const front = frontOf(order);
  const steps = order
    .filter((node) => !front.has(node))
    .map((node) => ({ node, run: kernelOf(node)?.(node, product) }));
  const boundary = [
    ...new Set(
      steps
        .flatMap(({ node }) => node.inputs.filter((value) => value !== undefined))
        .filter(({ producer }) => producer && front.has(producer)),
    ),
  ];
  const constants = new Map(
    [...graph.constants()]
      .filter(({ dtype }) => !isPacked(dtype))
      .map((value) => [value, numbersIn(value.constant as Tensor)]),
  );
  const output = graph.outputs[0]?.value as Value;

  const runOne = async (ids: TokenIds): Promise<Float32Array<ArrayBuffer>> => {
    const given = new Map(graph.inputs.map((input) => [input, inputTensor(input, ids)]));
    const values = new Map<Value, NodeTensor>(constants);
    for (const [value, found] of given) values.set(value, numbersIn(found));
    const computed = boundary.length > 0 ? await runSubgraph(graph, boundary, given) : [];
    boundary.forEach((value, i) => {
      values.set(value, numbersIn(computed?.[i] as Tensor));
    });
    for (const { node, run } of steps) {
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
      for (const ids of sequences) results.push(await runOne(ids));
      return results;
    },
  };
}

const kernelOf = (node: Node): NodeKernel | undefined =>
  integerKernels[`${node.domain}:${node.opType}`] ??
  (kernelSupports(node) ? floatKernels[`${node.domain}:${node.opType}`] : undefined);

/** The nodes that are left to onnxruntime: those without a kernel, and all that they depend on. */
function frontOf(order: readonly Node[]): Set<Node> {
  const front = new Set<Node>();
  for (const node of order.toReversed()) {
    const floats = node.output.dtype === undefined || node.output.dtype === "float32";
    if (!readerIn(front, node) && floats && kernelOf(node)) continue;
    if (integerKernels[`${node.domain}:${node.opType}`]) throw unsupported(node, front);
    front.add(node);
  }
  return front;
}

const readerIn = (nodes: ReadonlySet<Node>, { outputs }: Node): Node | undefined =>
  outputs.flatMap((output) => [...(output?.users ?? [])]).find((user) => nodes.has(user));

/** Names the node without a kernel for which a node that has one would have to be left to onnxruntime. */
function unsupported(node: Node, front: ReadonlySet<Node>): BertEdgeError {
  let last = node;
  for (let reader = readerIn(front, last); reader; reader = readerIn(front, last)) last = reader;
  return new BertEdgeError(
    "engine_unsupported",
    `The edge engine has no kernel for ${last.opType} (${last.origin}), which works on tokens.`,
    { hint: "Use onnxruntime-web for this model." },
  );
}

function inputTensor({ name, dtype }: Value, ids: TokenIds): Tensor {
  const values = name === "input_ids" ? ids : ids.map(() => (name === "attention_mask" ? 1 : 0));
  const shape = [1, ids.length];
  return dtype === "int32"
    ? tensor("int32", shape, values)
    : tensor("int64", shape, BigInt64Array.from(values, BigInt));
}

/** Weights and tables in small whole numbers: their kernels read them from the node. */
const isPacked = (dtype: DataType | undefined): boolean => dtype === "uint8" || dtype === "int8";

const numbersIn = (value: Tensor): NodeTensor => ({
  shape: value.shape,
  data: value.dtype === "float32" ? toFloat32(value) : Int32Array.from(numbersOf(value), toInt32),
});

/** The ends of 64-bit integers, which mean "to the end", are the ends of 32-bit ones. */
const toInt32 = (value: number): number => Math.min(Math.max(value, -(2 ** 31)), 2 ** 31 - 1);
