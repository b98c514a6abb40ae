import { type Dim, type Shape, sameDim, symbolMultiple, symbolOf } from "../../graph/dim.ts";
import { int, type Value } from "../../graph/node.ts";
import { reshapeOperators } from "../../graph/operators.ts";
import { int64s, type Tensor } from "../../graph/tensor.ts";
import { type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";

/**
 * Makes a constant target shape for a Reshape. A fixed size stays as it is. A symbolic size becomes 0 if `from` has the
 * same size on the same axis, and −1 otherwise.
 *
 * @returns undefined if more than one size would be −1, or if a fixed size is 0
 */
export function reshapeTarget(from: Shape, to: Shape): Tensor | undefined {
  let open = 0;
  const target = to.map((dim: Dim, i) => {
    if (typeof dim === "number") return dim;
    if (sameDim(dim, from[i])) return 0;
    open++;
    return -1;
  });
  // A fixed size of 0 cannot be written, because 0 means "unchanged".
  return open > 1 || to.includes(0) ? undefined : int64s(...target);
}

/** Adds a Reshape to the shape `to`. Returns undefined if `reshapeTarget` finds no constant target. */
export function reshapedTo(
  { add, constant }: Rewrite,
  value: Value,
  to: Shape | undefined,
  name: string,
): Value | undefined {
  const target = value.shape && to && reshapeTarget(value.shape, to);
  return target && add("Reshape", [value, constant(name, target)]).output;
}

/**
 * Replaces Reshape, Squeeze, Unsqueeze, Flatten and chains of these operators by one Reshape to a constant target, if
 * the shapes are known. The arithmetic that computed the target is then unused.
 */
export const constantReshapeRule: Rule = rule("constant reshape", {
  roots: reshapeOperators,
  check({ root }) {
    const [x] = root.inputs;
    const { producer } = x ?? {};
    const before =
      producer?.domain === "" && reshapeOperators.includes(producer.opType) ? producer.inputs[0] : undefined;
    for (const source of [before, x]) {
      const target = source?.shape && root.output.shape && reshapeTarget(source.shape, root.output.shape);
      if (!target) continue;
      const isDone = root.is("Reshape") && root.inputs[1]?.constant && root.int("allowzero") !== 1;
      return !(source === x && isDone) && { source, target };
    }
    return undefined;
  },
  rewrite: ({ root, add, constant }, { source, target }) =>
    add("Reshape", [source, constant(`${root.name}/shape`, target)]).output,
});

/**
 * Computes Shape(x) from the sizes of the graph's inputs instead of x. Then x has one reader less. This allows more
 * fusions, because fusions remove only values without other readers.
 */
export const shapeOfInputsRule: Rule = rule("shape of inputs", {
  roots: ["Shape"],
  check({ root }) {
    const { content = [] } = root.output;
    const [x] = root.inputs;
    return x?.producer && content.length > 0 && content.every(isSimple) && { x, content };
  },
  rewrite(rewrite, { x, content }) {
    const { root, add, constant } = rewrite;
    const inputs = inputsOf(x);
    const parts = content.map((dim) =>
      typeof dim === "number"
        ? constant(`${root.origin}/size`, int64s(dim))
        : inputSize(rewrite, inputs, symbolMultiple(dim)),
    );
    const [first, ...others] = parts;
    if (!first || others.includes(undefined)) return refuse("a size is not the size of an input", root);
    return others.length === 0 ? first : add("Concat", parts, { attributes: { axis: int(0) } }).output;
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

const unary = [
  "Erf",
  "Tanh",
  "Relu",
  "Sigmoid",
  "Gelu",
  "Sqrt",
  "Neg",
  "Softmax",
  "LayerNormalization",
  "Cast",
  "Softplus",
];
/** Operators that work along the axis given by their attribute. */
const rowWise = new Set(["Softmax", "LayerNormalization"]);
const binary = ["Add", "Sub", "Mul", "Div", "Pow"];

/**
 * Moves a Reshape behind an operator f that works row by row:
 * f(Reshape(x: [batch, sequence, n] → [batch · sequence, n])) = Reshape(f(x)).
 *
 * Some exporters run whole layers on [batch · sequence, n]. The rule moves the Reshape behind one node after the other.
 * After the last node, another Reshape restores the three axes. The two Reshapes cancel each other and are removed.
 */
export const unflattenRowsRule: Rule = rule("unflatten rows", {
  roots: [...unary, ...binary, "MatMul"],
  check({ root }) {
    const isMatMul = root.is("MatMul");
    const axis = root.int("axis") ?? -1;
    if (root.output.shape?.length !== 2 || root.outputs.length > 1 || (axis !== -1 && axis !== 1)) return undefined;
    if (isMatMul && !root.inputs[1]?.isConstant) return undefined;
    const sources = root.inputs.map(unflattened);
    const lead = sources.find((source) => source !== undefined)?.shape?.slice(0, -1);
    if (!lead) return undefined;
    const inputs = root.inputs.map((input, i) => (sameLead(sources[i]?.shape, lead) ? sources[i] : input));
    const kept = inputs.filter((input, i) => input !== undefined && input === root.inputs[i]);
    const isWeight = isMatMul && inputs[0] !== root.inputs[0];
    return (isWeight || kept.every(isRow)) && { inputs, lead };
  },
  rewrite(rewrite, { inputs, lead }) {
    const { root } = rewrite;
    // Sets the axis explicitly, because before opset 13 the default axis of Softmax is not the last.
    const attributes = rowWise.has(root.opType) ? { ...root.attributes, axis: int(lead.length) } : root.attributes;
    const { output } = rewrite.add(root.opType, inputs, { attributes });
    const flat = reshapedTo(rewrite, output, root.output.shape, `${root.name}/rows`);
    return flat ?? refuse("the Reshape of its result has more than one open size", root);
  },
});

/** If a value is the output of a Reshape to [rows, n], returns the input of that Reshape. */
function unflattened(value: Value | undefined): Value | undefined {
  const node = value?.producer;
  const source = node?.is("Reshape") ? node.inputs[0] : undefined;
  const [from, to] = [source?.shape, value?.shape];
  return from && to && to.length === 2 && from.length > 2 && sameDim(from.at(-1), to[1]) ? source : undefined;
}

const sameLead = (shape: Shape | undefined, lead: Shape) =>
  shape?.length === lead.length + 1 && lead.every((dim, i) => sameDim(dim, shape[i] as Dim));

/** Whether a value is a constant that is the same for all rows. */
const isRow = (value: Value | undefined) =>
  value?.isConstant === true && value.shape !== undefined && value.shape.slice(0, -1).every((size) => size === 1);
