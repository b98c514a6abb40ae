import { int } from "../../graph/attribute.ts";
import { type Dim, symbolMultiple, symbolOf } from "../../graph/dim.ts";
import type { Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import { type Rewrite, type Rule, rule } from "../../rewrite/rule.ts";

/**
 * Computes Shape(x) from the sizes of the graph's inputs instead of x. Then x has one reader less. This allows more
 * fusions, because fusions remove only values without other readers.
 */
export const shapeOfInputsRule: Rule = rule("shape of inputs", {
  roots: ["Shape"],
  rewrite(rewrite) {
    const { root, add, constant } = rewrite;
    const { content } = root.output;
    const [x] = root.inputs;
    if (!x?.producer || !content || content.length === 0 || content.some((dim) => !isSimple(dim))) return undefined;
    const inputs = inputsOf(x);
    const parts = content.map((dim) =>
      typeof dim === "number"
        ? constant(`${root.origin}/size`, int64s(dim))
        : inputSize(rewrite, inputs, symbolMultiple(dim)),
    );
    if (parts.includes(undefined)) return undefined;
    return parts.length === 1 ? parts[0] : add("Concat", parts, { attributes: { axis: int(0) } }).output;
  },
});

/**
 * Adds nodes that compute a multiple of a symbol from the shape of an input. Returns the size as a vector of one
 * element.
 */
function inputSize(
  { root, add, constant }: Rewrite,
  inputs: readonly Value[],
  size: ReturnType<typeof symbolMultiple>,
): Value | undefined {
  for (const input of size ? inputs : []) {
    const axis = input.shape?.findIndex((dim) => symbolOf(dim) === size?.symbol) ?? -1;
    if (axis < 0 || !size) continue;
    const one = add("Gather", [add("Shape", [input]).output, constant(`${root.origin}/axis`, int64s(axis))]).output;
    return size.factor === 1 ? one : add("Mul", [one, constant(`${root.origin}/factor`, int64s(size.factor))]).output;
  }
  return undefined;
}

const isSimple = (dim: Dim) => typeof dim === "number" || symbolMultiple(dim) !== undefined;

/**
 * Returns the graph's inputs that a value is computed from. Sizes are not read from other inputs: such an input may
 * have a size with the same name, but another value.
 */
function inputsOf(value: Value): Value[] {
  const seen = new Set([value]);
  for (const { producer } of seen) for (const input of producer?.inputs ?? []) if (input) seen.add(input);
  return [...seen].filter(({ producer, isConstant }) => !producer && !isConstant);
}
