import { isStatic } from "../../graph/dim.ts";
import type { Node } from "../../graph/node.ts";
import { elementCount, int64s, numbersOf, type Tensor } from "../../graph/tensor.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";
import { normalizeAxis } from "../../shapes/shape-rule.ts";

/**
 * Makes a Gather or GatherND that takes every element once, in order, a Reshape. PyTorch's exporters write masks of a fixed size in this way.
 */
export const wholeGatherRule: Rule = rule("whole gather", {
  roots: ["Gather", "GatherND"],
  rewrite({ root, add, constant }) {
    const [x, indices] = root.inputs;
    const { shape } = root.output;
    if (!x || x.isConstant || !isStatic(x.shape) || !indices?.constant || !isStatic(shape)) return undefined;
    const count = takenInOrder(root, x.shape, indices.constant);
    if (count !== elementCount(shape)) return undefined;
    return add("Reshape", [x, constant(`${root.origin}/shape`, int64s(...shape))]).output;
  },
});

/** Maximum number of indices. Masks have one for each token. */
const MAX_INDICES = 1 << 16;

/** Returns the number of elements of x if a node takes all of them in order. */
function takenInOrder(node: Node, shape: readonly number[], { shape: at, dtype, data }: Tensor): number | undefined {
  if (elementCount(at) > MAX_INDICES) return undefined;
  const indices = numbersOf({ shape: at, dtype, data });
  if (node.is("Gather")) {
    const size = shape[normalizeAxis(node.int("axis") ?? 0, shape.length)];
    return indices.length === size && indices.every((index, i) => index === i) ? elementCount(shape) : undefined;
  }
  const rank = shape.length;
  if (at.at(-1) !== rank || (node.int("batch_dims") ?? 0) !== 0) return undefined;
  const places = Array.from({ length: indices.length / rank }, (_, i) =>
    shape.reduce((place, size, axis) => place * size + (indices[i * rank + axis] as number), 0),
  );
  const inRange = indices.every((index, i) => index >= 0 && index < (shape[i % rank] as number));
  return inRange && places.every((place, i) => place === i) ? elementCount(shape) : undefined;
}
