import { int } from "../graph/attribute.ts";
import { symbolOf } from "../graph/dim.ts";
import type { Value } from "../graph/graph.ts";
import { int64s } from "../graph/tensor.ts";
import { type Rewrite, type Rule, rule } from "../rewrite/rule.ts";

/**
 * Shape(x) of something computed = the sizes of the graph's inputs that it follows from. Reading a size then no longer
 * counts as reading the tensor, which can be fused away.
 */
export const sizes: Rule = rule("sizes", {
  roots: ["Shape"],
  rewrite(rewrite) {
    const { root, add, constant } = rewrite;
    const { content } = root.output;
    if (!root.inputs[0]?.producer || !content || content.length === 0) return undefined;
    const parts = content.map((dim) =>
      typeof dim === "number" ? constant(`${root.origin}/size`, int64s(dim)) : inputSize(rewrite, symbolOf(dim)),
    );
    if (parts.includes(undefined)) return undefined;
    return parts.length === 1 ? parts[0] : add("Concat", parts, { attributes: { axis: int(0) } }).output;
  },
});

/** The size of an input that the symbol names, as a vector of one element. */
function inputSize({ graph, root, add, constant }: Rewrite, name: string | undefined): Value | undefined {
  for (const input of graph.inputs) {
    const axis = name === undefined ? -1 : (input.shape?.findIndex((dim) => symbolOf(dim) === name) ?? -1);
    if (axis < 0) continue;
    return add("Gather", [add("Shape", [input]).output, constant(`${root.origin}/axis`, int64s(axis))]).output;
  }
  return undefined;
}
