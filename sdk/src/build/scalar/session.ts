import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { runSubgraph } from "../evaluate/run-subgraph.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { numbersOf, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { floatKernels } from "./float-kernels.ts";
import { integerKernels } from "./integer-kernels.ts";
import { type IntegerProduct, integerProduct } from "./integer-product.ts";
import type { Kernel, Numbers, Outputs } from "./kernel.ts";

/** Runs a model text by text. */
export interface ScalarSession {
  /** @returns for every sequence the graph's first output, row-major */
  run(sequences: readonly TokenIds[]): Promise<Float32Array[]>;
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
export function scalarSession(graph: Graph, product: IntegerProduct = integerProduct): ScalarSession {
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
  const constants = new Map([...graph.constants()].map((value) => [value, numbersIn(value.constant as Tensor)]));
  const output = graph.outputs[0]?.value as Value;

  const runOne = async (ids: TokenIds): Promise<Float32Array> => {
    const given = new Map(graph.inputs.map((input) => [input, inputTensor(input, ids)]));
    const values = new Map<Value, Numbers>(constants);
    for (const [value, found] of given) values.set(value, numbersIn(found));
    const computed = boundary.length > 0 ? await runSubgraph(graph, boundary, given) : [];
    boundary.forEach((value, i) => {
      values.set(value, numbersIn(computed?.[i] as Tensor));
    });
    for (const { node, run } of steps) {
      const results = (await run?.(node.inputs.map((input) => input && values.get(input)))) as Outputs;
      node.outputs.forEach((value, i) => {
        const result = results[i];
        if (value && result) values.set(value, result);
      });
    }
    return values.get(output)?.data as Float32Array;
  };

  return {
    async run(sequences) {
      const results: Float32Array[] = [];
      for (const ids of sequences) results.push(await runOne(ids));
      return results;
    },
  };
}

const kernelOf = ({ domain, opType }: Node): Kernel | undefined =>
  integerKernels[`${domain}:${opType}`] ?? floatKernels[`${domain}:${opType}`];

/** The nodes that are left to onnxruntime: those without a kernel, and all that they depend on. */
function frontOf(order: readonly Node[]): Set<Node> {
  const front = new Set<Node>();
  for (const node of order.toReversed()) {
    const isInFront = node.outputs.some((output) => [...(output?.users ?? [])].some((user) => front.has(user)));
    const floats = node.output.dtype === undefined || node.output.dtype === "float32";
    if (!isInFront && floats && kernelOf(node)) continue;
    if (integerKernels[`${node.domain}:${node.opType}`]) throw unsupported(node, front);
    front.add(node);
  }
  return front;
}

function unsupported(node: Node, front: ReadonlySet<Node>): BertEdgeError {
  const reader = node.outputs.flatMap((output) => [...(output?.users ?? [])]).find((user) => front.has(user));
  return new BertEdgeError(
    "engine_unsupported",
    `The edge engine has no kernel for ${reader?.opType} (${reader?.origin}), which works on tokens.`,
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

const numbersIn = (value: Tensor): Numbers => ({
  shape: value.shape,
  data: value.dtype === "float32" ? toFloat32(value) : Int32Array.from(numbersOf(value)),
});
