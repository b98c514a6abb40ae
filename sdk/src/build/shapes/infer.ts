import { type Dim, type Shape, substitute, symbol } from "../graph/dim.ts";
import { type Graph, MICROSOFT, type Node, type Value } from "../graph/graph.ts";
import { elementCount, isInteger, numbersOf } from "../graph/tensor.ts";
import { computeRules } from "./compute.ts";
import { elementwiseRules } from "./elementwise.ts";
import { microsoftRules } from "./microsoft.ts";
import { movementRules } from "./movement.ts";
import { MAX_CONTENT, type ShapeRule } from "./rule.ts";

const domains: Readonly<Record<string, Readonly<Record<string, ShapeRule>>>> = {
  "": { ...elementwiseRules, ...movementRules, ...computeRules },
  [MICROSOFT]: microsoftRules,
};

/**
 * Finds types, shapes and, of the small integer vectors that shapes are computed with, the contents, of every value from
 * those of the graph's inputs. What a file says about other values is not believed. Values of operators without a rule
 * stay unknown.
 */
export function inferShapes(graph: Graph): void {
  const order = graph.sorted();
  for (const value of graph.constants()) readContent(value);
  // Each round can find that two symbols are one; then everything is found again with one of them.
  for (;;) {
    const equal = new Map<string, string>();
    for (const node of order) inferNode(graph, node, equal);
    if (equal.size === 0) return;
    for (const value of graph.inputs) value.shape = renamed(value.shape, equal);
  }
}

/**
 * Finds what is known of one node's results.
 *
 * @param equal takes symbols that turn out to be equal, the later one first
 */
export function inferNode(graph: Graph, node: Node, equal = new Map<string, string>()): void {
  for (const input of node.inputs) if (input?.isConstant) readContent(input);
  const rule = domains[node.domain]?.[node.opType];
  let unknowns = 0;
  const results = rule?.(node, {
    opset: graph.opsets.get(node.domain) ?? 1,
    unknown: () => symbol(`${node.output.name}.${unknowns++}`),
    equate: (a, b) => {
      const [first, second] = [root(a, equal), root(b, equal)];
      if (first !== second) equal.set(second, first);
      return symbol(first);
    },
  });
  node.outputs.forEach((value, i) => {
    if (!value) return;
    const known = results?.[i];
    value.dtype = known?.dtype;
    value.shape = known?.shape?.every(isSize) ? known.shape : undefined;
    value.content = isInteger(value.dtype) && (known?.content?.length ?? 0) <= MAX_CONTENT ? known?.content : undefined;
  });
}

const isSize = (dim: Dim) => typeof dim !== "number" || (Number.isSafeInteger(dim) && dim >= 0);

function readContent(value: Value): void {
  const { constant } = value;
  if (!constant || value.content || constant.shape.length > 1 || !isInteger(constant.dtype)) return;
  if (elementCount(constant.shape) <= MAX_CONTENT) value.content = numbersOf(constant);
}

function root(name: string, equal: ReadonlyMap<string, string>): string {
  const next = equal.get(name);
  return next === undefined ? name : root(next, equal);
}

const renamed = (shape: Shape | undefined, equal: ReadonlyMap<string, string>): Shape | undefined =>
  shape?.map((dim) => substitute(dim, (name) => symbol(root(name, equal))));
