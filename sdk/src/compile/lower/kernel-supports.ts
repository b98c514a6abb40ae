import { MICROSOFT, type Node } from "../graph/node.ts";
import { numbersOf } from "../graph/tensor.ts";

interface Form {
  readonly isKnown: (node: Node) => boolean;
  /** Describes the supported forms of the operator, for error messages. */
  readonly supported: string;
}

/**
 * Whether the kernels support a node. They support only the forms of an operator that fused encoders use, such as MatMul
 * with a matrix.
 */
export const kernelSupports = (node: Node): boolean => formOf(node)?.isKnown(node) ?? true;

/** Describes the supported forms of a node's operator; undefined if all are supported. */
export const supportedForms = (node: Node): string | undefined => formOf(node)?.supported;

const formOf = ({ domain, opType }: Node): Form | undefined => forms[`${domain}:${opType}`];

const forms: Readonly<Record<string, Form>> = {
  ":MatMul": {
    isKnown: ({ inputs: [, weight] }) => weight?.shape?.length === 2,
    supported: "only a MatMul with a matrix as its second input is supported",
  },
  ":LayerNormalization": {
    isKnown: (node) => isLast(node, node.int("axis") ?? -1),
    supported: "only the last axis can be normalized",
  },
  ":SimplifiedLayerNormalization": {
    isKnown: (node) => isLast(node, node.int("axis") ?? -1),
    supported: "only the last axis can be normalized",
  },
  ":Split": {
    isKnown: (node) => isLast(node, node.int("axis") ?? 0) && new Set(partsOf(node)).size === 1,
    supported: "only the last axis can be split, and only into parts of equal size",
  },
  ":Slice": {
    isKnown: ({ inputs: [, , , , steps] }) => !steps || (contentOf(steps)?.every((step) => step === 1) ?? false),
    supported: "only slices with a step of 1 are supported",
  },
  [`${MICROSOFT}:RotaryEmbedding`]: {
    isKnown: (node) =>
      !(node.int("interleaved") || node.int("rotary_embedding_dim")) && contentOf(node.inputs[1])?.join() === "0",
    supported:
      "only whole heads can be rotated (in two halves, not interleaved), and only with positions that start at 0",
  },
};

const contentOf = (value: Node["inputs"][number]) => value?.constant && numbersOf(value.constant);

const isLast = ({ inputs: [x] }: Node, axis: number) => axis === -1 || axis + 1 === x?.shape?.length;

/**
 * Returns the sizes of the parts of a Split, or [] if the sizes are unknown. A Split without sizes makes equal parts.
 * For such a Split, the function returns [0].
 */
function partsOf(node: Node): readonly number[] {
  const [, sizes] = node.inputs;
  return (sizes ? contentOf(sizes) : node.ints("split")) ?? (sizes ? [] : [0]);
}
