import { type FixedSizes, fixedSizes } from "../evaluate/token-batches.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { unfusedParts } from "../fusions/unfused-parts.ts";
import { type Dim, dimProduct, type Shape, sameDim, sameShape, substituteSymbols, symbolicDim } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import { inputWithRole } from "../graph/input-role.ts";
import { int, MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { int64s } from "../graph/tensor.ts";
import { uniformValue } from "../graph/tensor-math.ts";
import { reshapeTarget } from "../normalize/rules/shape.ts";
import { inferNode, inferShapes } from "../shapes/infer-shapes.ts";

/** Returns the fixed sizes of a graph's token ids; undefined if both sizes may vary. */
export function fixedIn(graph: Graph): FixedSizes | undefined {
  const fixed = fixedSizes(graph);
  return fixed.texts === undefined && fixed.tokens === undefined ? undefined : fixed;
}

/** Describes the fixed sizes of an input, such as "1 × 128". */
export const sizesIn = (sizes: readonly unknown[] = []): string =>
  sizes.map((size) => (typeof size === "number" ? size : "…")).join(" × ");

/** Symbols of the batch size (number of texts) and the sequence size (tokens per text). */
export const [BATCH, SEQUENCE] = ["batch", "sequence"];

/** Stands for a size that is not fixed. It is a prime number that no model has as a size. */
const ANY = 1_000_003;

/**
 * Finds out what a Reshape of fixed sizes does at other sizes.
 *
 * @param from shape of the input, with the symbols `BATCH` and `SEQUENCE`
 * @param to shape of the output at the fixed sizes
 * @returns shape of the output with the same symbols; undefined if no shape or several shapes are possible
 */
export function openedShape(from: Shape, to: Shape, { texts = ANY, tokens = ANY }: FixedSizes): Shape | undefined {
  const at = (dim: Dim) => substituteSymbols(dim, (name) => (name === BATCH ? texts : tokens)) as number;
  const wanted = to.map((dim) => (typeof dim === "number" ? dim : ANY));
  const shape: Dim[] = [];
  for (let i = 0; i < from.length || shape.length < wanted.length; ) {
    // Takes the fewest next axes of both shapes that have the same number of elements.
    let [end, start] = [i + 1, shape.length];
    let [left, right] = [at(from[i] ?? 1), wanted[start] ?? 1];
    let last = start + 1;
    while (left !== right) {
      if (left < right && end < from.length) left *= at(from[end++] as Dim);
      else if (left > right && last < wanted.length) right *= wanted[last++] as number;
      else return undefined;
    }
    const group = dimProduct(from.slice(i, end));
    const opened = split(group, wanted.slice(start, last), [texts, tokens]);
    if (!opened) return undefined;
    shape.push(...opened);
    i = end;
  }
  return shape;
}

/** Splits a size into factors that have the values `numbers` at the fixed sizes; undefined if several splits are possible. */
function split(size: Dim, numbers: readonly number[], fixed: readonly number[]): readonly Dim[] | undefined {
  if (typeof size === "number" || numbers.length === 1) return numbers.length === 1 ? [size] : numbers;
  const both = [BATCH, SEQUENCE].map(symbolicDim);
  const areBoth = numbers.length === 2 && numbers.every((number, i) => number === fixed[i]);
  if (areBoth && sameDim(size, dimProduct(both))) return both;
  const open = numbers.filter((number) => number !== 1);
  return open.length === 1 ? numbers.map((number) => (number === 1 ? 1 : size)) : undefined;
}

/**
 * Changes a graph of fixed sizes, such as 1 × 128, in place, so that it takes any number of texts with up to the fixed number
 * of tokens. Fused operators take inputs of any size. So the graph is fused first, and then the few constants that have a
 * fixed size are replaced. The caller must compare the results of the changed graph with the original.
 *
 * @param fixed sizes of the graph's inputs
 * @returns why the graph cannot be changed; undefined if it was changed
 */
export async function openSizes(graph: Graph, fixed: FixedSizes): Promise<string | undefined> {
  const [reason] = unfusedParts(graph, await fuseGraph(graph));
  if (reason) return `${reason.pattern}${reason.node && ` at ${reason.node}`} could not be fused: ${reason.why}`;
  const whole = inputWithRole(graph, "input_ids")?.shape;
  for (const input of graph.inputs) input.shape = [symbolicDim(BATCH), symbolicDim(SEQUENCE)];
  // Removes the declarations, because they have the fixed sizes of the file.
  graph.declarations.clear();
  graph.outputs.splice(
    0,
    graph.outputs.length,
    ...graph.outputs.map((output) => ({ ...output, declaration: undefined })),
  );
  for (const node of graph.sorted()) {
    if (node.is("Reshape") && !openReshape(graph, node, fixed))
      return `Reshape ${node.origin} fits the fixed sizes only`;
    if (node.is("GatherElements")) openLookup(graph, node);
    if (sameShape(node.output.shape, whole)) openFill(graph, node);
    openConstants(graph, node, fixed);
    inferNode(graph, node);
  }
  graph.prune();
  inferShapes(graph);
  return undefined;
}

/**
 * Makes the target of a Reshape depend on the shape of its input.
 *
 * @returns whether this was possible
 */
function openReshape(graph: Graph, node: Node, fixed: FixedSizes): boolean {
  const [x, target] = node.inputs;
  if (!target?.constant) return true;
  const shape = x?.shape && node.output.shape && openedShape(x.shape, node.output.shape, fixed);
  const opened = shape && reshapeTarget(x.shape as Shape, shape);
  if (opened) graph.setInputs(node, [x, graph.constant(`${node.name}/opened`, opened)]);
  return opened !== undefined;
}

/**
 * Replaces a GatherElements that reads a table of one row, such as RoBERTa's token types by position, with a Gather. A Gather
 * takes the indices of any number of texts.
 */
function openLookup(graph: Graph, node: Node): void {
  const [table, indices] = node.inputs;
  const { constant } = table ?? {};
  if (constant?.shape.length !== 2 || constant.shape[0] !== 1 || node.int("axis") !== 1) return;
  const row = graph.constant(`${node.name}/row`, { ...constant, shape: constant.shape.slice(1) });
  const lookup = graph.add("Gather", [row, indices], { attributes: { axis: int(0) } });
  inferNode(graph, lookup);
  graph.replace(node.output, lookup.output);
}

/** Changes a node that repeats one number, such as the token type 0, so that it repeats the number for each token of the input. */
function openFill(graph: Graph, node: Node): void {
  const [x] = node.inputs;
  if (!node.is("ConstantOfShape") && !(node.is("Expand") && x && uniformValue(x) !== undefined)) return;
  const shape = graph.add("Shape", [inputWithRole(graph, "input_ids")]);
  inferNode(graph, shape);
  graph.setInputs(node, [...(node.is("Expand") ? [x] : []), shape.output]);
}

/** Operators whose inputs are aligned at their last axes. */
const broadcasts = new Set(["Add", "Sub", "Mul", "Div", "And", "Or", "Where", "Equal"]);

/** Index of the input that is added to the attention scores, for the operators with such an input. */
const scoreBias: Readonly<Record<string, number>> = { Attention: 5, MultiHeadAttention: 5 };

/** Cuts constants that have a number for each position, or for each pair of positions, to the length of the texts. */
function openConstants(graph: Graph, node: Node, { tokens }: FixedSizes): void {
  const bias = node.domain === MICROSOFT ? scoreBias[node.opType] : undefined;
  if (tokens === undefined || (bias === undefined && !(node.domain === "" && broadcasts.has(node.opType)))) return;
  const others = node.inputs.filter((input) => input && !input.isConstant);
  const isOpen = (axis: number) =>
    bias === undefined ? others.every((other) => !isFixed(other?.shape?.at(axis))) : axis >= -2;
  const inputs = node.inputs.map((input, i) => {
    if (!input?.constant || i !== (bias ?? i)) return input;
    const axes = input.constant.shape.map((_, axis, { length }) => axis - length);
    return cutAt(
      graph,
      input,
      axes.filter((axis) => input.constant?.shape.at(axis) === tokens && isOpen(axis)),
    );
  });
  graph.setInputs(node, inputs);
}

/** Whether an axis has a fixed size above 1. Axes of size 1 are broadcast. */
const isFixed = (size: Dim | undefined) => typeof size === "number" && size > 1;

/** Cuts a constant to the length of the texts along some axes. */
function cutAt(graph: Graph, constant: Value, axes: readonly number[]): Value {
  const ids = inputWithRole(graph, "input_ids");
  if (axes.length === 0 || !ids) return constant;
  const add = (...[opType, inputs, options]: Parameters<Graph["add"]>) => {
    const node = graph.add(opType, inputs, options);
    inferNode(graph, node);
    return node.output;
  };
  const numbers = (...values: number[]) => graph.constant(`${constant.name}/open`, int64s(...values));
  const length = add("Gather", [add("Shape", [ids]), numbers(1)]);
  return axes.reduce((value, axis) => add("Slice", [value, numbers(0), length, numbers(axis)]), constant);
}
