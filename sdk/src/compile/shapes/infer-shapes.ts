import { type Dim, MAX_DIM_KEY_LENGTH, type Shape, substituteSymbols, symbolicDim } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { EDGE } from "../graph/operators.ts";
import { type DataType, elementCount, isInteger, numbersOf } from "../graph/tensor.ts";
import { edgeRules } from "./rules/edge.ts";
import { elementwiseRules } from "./rules/elementwise.ts";
import { computeRules } from "./rules/mat-mul-and-reduction.ts";
import { microsoftRules } from "./rules/microsoft.ts";
import { movementRules } from "./rules/movement.ts";
import { type KnownValue, MAX_CONTENT, type ShapeRule } from "./shape-rule.ts";

const domains: ReadonlyMap<string, ReadonlyMap<string, ShapeRule>> = new Map([
  ["", new Map(Object.entries({ ...elementwiseRules, ...movementRules, ...computeRules }))],
  [MICROSOFT, new Map(Object.entries(microsoftRules))],
  [EDGE, new Map(Object.entries(edgeRules))],
]);

/**
 * Types in which models compute sizes, and the maximum of each type. Larger numbers would overflow and are not
 * inferred.
 */
const MAX_VALUE: ReadonlyMap<DataType | undefined, number> = new Map([
  ["int64", Number.POSITIVE_INFINITY],
  ["int32", 2 ** 31 - 1],
  ["bool", 1],
]);

/**
 * Infers the type and shape of every value, starting from the graph's inputs. Also infers the elements (`content`) of
 * small integer vectors, because models compute shapes from them. Uses the types and shapes in the file only for
 * inputs and constants. Outputs of operators without a rule stay unknown.
 */
export function inferShapes(graph: Graph): void {
  const order = graph.sorted();
  for (const value of graph.constants()) readContent(value);
  // If a round finds that two symbols are equal, the next round infers everything again with only one of the two
  // symbols.
  const equal = new Map<string, string>();
  for (let before = -1; before < equal.size; ) {
    before = equal.size;
    for (const value of graph.inputs) value.shape = renamed(value.shape, equal);
    for (const node of order) inferNode(graph, node, equal);
  }
}

/**
 * Infers the outputs of one node.
 *
 * @param equal a map that gets an entry for each pair of equal symbols: from a symbol to the symbol that replaces it
 */
export function inferNode(graph: Graph, node: Node, equal = new Map<string, string>()): void {
  for (const input of node.inputs) if (input?.isConstant) readContent(input);
  const rule = domains.get(node.domain)?.get(node.opType);
  let unknowns = 0;
  const results = rule?.(node, {
    opset: graph.opsets.get(node.domain) ?? 1,
    unknown: () => symbolicDim(root(`${node.outputs[0]?.name ?? node.name}.${unknowns++}`, equal)),
    equate: (a, b) => {
      const [first, second] = [root(a, equal), root(b, equal)];
      if (first !== second) equal.set(second, first);
      return symbolicDim(first);
    },
  });
  node.outputs.forEach((value, i) => {
    if (!value) return;
    const known = results?.[i];
    value.dtype = known?.dtype;
    value.shape = known?.shape?.every(isSize) ? known.shape : undefined;
    value.content = isContent(known) ? known?.content : undefined;
  });
}

const isSize = (dim: Dim) =>
  typeof dim === "number" ? Number.isSafeInteger(dim) && dim >= 0 : dim.key.length <= MAX_DIM_KEY_LENGTH;

function isContent({ dtype, content = [] }: KnownValue = {}): boolean {
  const largest = MAX_VALUE.get(dtype) ?? -1;
  return (
    content.length <= MAX_CONTENT &&
    content.every((dim) => (typeof dim === "number" ? Math.abs(dim) <= largest : dim.key.length <= MAX_DIM_KEY_LENGTH))
  );
}

function readContent(value: Value): void {
  const { constant } = value;
  if (!constant || value.content || constant.shape.length > 1 || !isInteger(constant.dtype)) return;
  if (elementCount(constant.shape) <= MAX_CONTENT) value.content = numbersOf(constant);
}

function root(name: string, equal: ReadonlyMap<string, string>): string {
  let last = name;
  for (let next = equal.get(last); next !== undefined; next = equal.get(last)) last = next;
  return last;
}

const renamed = (shape: Shape | undefined, equal: ReadonlyMap<string, string>): Shape | undefined =>
  shape?.map((dim) => substituteSymbols(dim, (name) => symbolicDim(root(name, equal))));
