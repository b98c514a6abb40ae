import { MICROSOFT, type Node } from "../../graph/node.ts";
import { numbersOf } from "../../graph/tensor.ts";

/** Whether a float kernel computes a node as its operator is defined: kernels know the forms that fused encoders have. */
export const hasKnownForm = (node: Node): boolean => forms[`${node.domain}:${node.opType}`]?.(node) ?? true;

const forms: Readonly<Record<string, (node: Node) => boolean>> = {
  ":MatMul": ({ inputs: [, weight] }) => weight?.shape?.length === 2,
  ":LayerNormalization": (node) => isLast(node, node.int("axis") ?? -1),
  ":Split": (node) => isLast(node, node.int("axis") ?? 0) && new Set(partsOf(node)).size === 1,
  ":Slice": ({ inputs: [, , , , steps] }) => !steps || (contentOf(steps)?.every((step) => step === 1) ?? false),
  // One position for all: that of the first token.
  [`${MICROSOFT}:RotaryEmbedding`]: (node) =>
    !(node.int("interleaved") || node.int("rotary_embedding_dim")) && contentOf(node.inputs[1])?.join() === "0",
};

const contentOf = (value: Node["inputs"][number]) => value?.constant && numbersOf(value.constant);

const isLast = ({ inputs: [x] }: Node, axis: number) => axis === -1 || axis + 1 === x?.shape?.length;

/** Sizes of the parts of a Split; zeros where they are equal by definition, none where they are not known. */
function partsOf(node: Node): readonly number[] {
  const [, sizes] = node.inputs;
  return (sizes ? contentOf(sizes) : node.ints("split")) ?? (sizes ? [] : [0]);
}
