import type { FixedSizes } from "../evaluate/token-batches.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { unfusedParts } from "../fusions/unfused-parts.ts";
import { type Dim, type Shape, sameShape, symbolicDim } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import { inputWithRole } from "../graph/input-role.ts";
import { int, MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { int64s } from "../graph/tensor.ts";
import { uniformValue } from "../graph/tensor-math.ts";
import { reshapeTarget } from "../normalize/rules/shape.ts";
import { inferNode, inferShapes } from "../shapes/infer-shapes.ts";
import { BATCH, openedShape, SEQUENCE } from "./opened-shape.ts";

/**
 * Makes a graph of fixed sizes, such as 1 × 128, one that takes any number of texts with up to the fixed number of tokens, in
 * place. Fused operators take inputs of any size. So the graph is fused first, and then the few constants that have a fixed size are
 * replaced. The caller must compare the result with the original.
 *
 * @param fixed sizes of the graph's inputs
 * @returns why that is not possible; undefined if it was done
 */
export async function openSizes(graph: Graph, fixed: FixedSizes): Promise<string | undefined> {
  const [reason] = unfusedParts(graph, await fuseGraph(graph));
  if (reason) return `${reason.pattern}${reason.node && ` at ${reason.node}`} could not be fused: ${reason.why}`;
  const whole = inputWithRole(graph, "input_ids")?.shape;
  for (const input of graph.inputs) input.shape = [symbolicDim(BATCH), symbolicDim(SEQUENCE)];
  // Declarations have the sizes of the file.
  graph.declarations.clear();
  graph.outputs.splice(
    0,
    graph.outputs.length,
    ...graph.outputs.map((output) => ({ ...output, declaration: undefined })),
  );
  for (const node of graph.sorted()) {
    if (node.is("Reshape") && !openReshape(graph, node, fixed)) return `Reshape ${node.origin} keeps its size`;
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

/** Looks up indices of any number of texts in a table of one row, such as RoBERTa's token types by position. */
function openLookup(graph: Graph, node: Node): void {
  const [table, indices] = node.inputs;
  const { constant } = table ?? {};
  if (constant?.shape.length !== 2 || constant.shape[0] !== 1 || node.int("axis") !== 1) return;
  const row = graph.constant(`${node.name}/row`, { ...constant, shape: constant.shape.slice(1) });
  const lookup = graph.add("Gather", [row, indices], { attributes: { axis: int(0) } });
  inferNode(graph, lookup);
  graph.replace(node.output, lookup.output);
}

/** Repeats one number, such as the token type 0, for each token. */
function openFill(graph: Graph, node: Node): void {
  const [x] = node.inputs;
  if (!node.is("ConstantOfShape") && !(node.is("Expand") && x && uniformValue(x) !== undefined)) return;
  const shape = graph.add("Shape", [inputWithRole(graph, "input_ids")]);
  inferNode(graph, shape);
  graph.setInputs(node, [...(node.is("Expand") ? [x] : []), shape.output]);
}

/** Operators whose inputs are aligned at their last axes. */
const broadcasts = new Set(["Add", "Sub", "Mul", "Div", "And", "Or", "Where", "Equal"]);

/** Index of the input that is added to the scores, in the operators that have one. */
const scoreBias: Readonly<Record<string, number>> = { Attention: 5, MultiHeadAttention: 5 };

/** Cuts constants that have a number for each position, or for two positions, at the length of the texts. */
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

/** Whether an axis has several elements, whatever the length of the texts. */
const isFixed = (size: Dim | undefined) => typeof size === "number" && size > 1;

/** Cuts a constant at the length of the texts, along some axes. */
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
