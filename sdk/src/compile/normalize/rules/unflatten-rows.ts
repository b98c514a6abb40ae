import { int } from "../../graph/attribute.ts";
import { type Dim, type Shape, sameDim } from "../../graph/dim.ts";
import type { Node, Value } from "../../graph/node.ts";
import { type Rewrite, type Rule, rule } from "../../rewrite/rule.ts";
import { reshapeTarget } from "../reshape-target.ts";

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
  rewrite(rewrite) {
    const { root } = rewrite;
    if (root.output.shape?.length !== 2 || root.outputs.length > 1) return undefined;
    if (root.opType === "MatMul" && !root.inputs[1]?.isConstant) return undefined;
    const axis = root.int("axis") ?? -1;
    if (axis !== -1 && axis !== 1) return undefined;
    const sources = root.inputs.map((input) => unflattened(input));
    const lead = sources.find((source) => source !== undefined)?.shape?.slice(0, -1);
    if (!lead) return undefined;
    const inputs = root.inputs.map((input, i) =>
      sources[i] && sameLead(sources[i]?.shape, lead) ? sources[i] : input,
    );
    const kept = inputs.filter((input, i) => input !== undefined && input === root.inputs[i]);
    const isWeight = root.opType === "MatMul" && inputs[0] !== root.inputs[0];
    if (!isWeight && !kept.every(isRow)) return undefined;
    // Sets the axis explicitly, because before opset 13 the default axis of Softmax is not the last.
    const attributes = rowWise.has(root.opType) ? { ...root.attributes, axis: int(lead.length) } : root.attributes;
    const { output } = rewrite.add(root.opType, inputs, { attributes });
    return flatten(rewrite, output, root);
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

function flatten({ add, constant }: Rewrite, value: Value, root: Node): Value | undefined {
  const target = value.shape && root.output.shape && reshapeTarget(value.shape, root.output.shape);
  return target && add("Reshape", [value, constant(`${root.name}/rows`, target)]).output;
}
