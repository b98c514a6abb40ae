import type { Dim, Shape } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type NodeOptions, Value } from "../graph/node.ts";
import type { DataType, Tensor } from "../graph/tensor.ts";
import { uniformValue } from "../graph/tensor-math.ts";
import { inferNode } from "../shapes/infer-shapes.ts";
import { type Match, match, type NearMiss } from "./match.ts";
import { Questions } from "./questions.ts";
import { Refusal, type Rewrite, type Rule } from "./rule.ts";
import { Trace } from "./trace.ts";

/** Maximum rounds over the graph. The limit stops rules that undo each other. */
const MAX_ROUNDS = 64;

/**
 * Applies rules to a graph until no rule applies. Each node is rewritten by the first rule that applies to this node.
 *
 * Refuses a match if a node outside the match reads an intermediate value of the match, because the rewrite removes
 * these values. Values in the rule's `shared` are allowed. `trace` records why rules did not apply. `questions` records the
 * questions that must be answered before rules can apply.
 *
 * @returns whether a rule changed the graph
 */
export function applyRules(
  graph: Graph,
  rules: readonly Rule[],
  trace = new Trace(),
  questions = new Questions(),
): boolean {
  const byRoot = new Map<string, Rule[]>();
  for (const rule of rules) {
    for (const root of rule.roots) {
      const key = `${rule.domain}:${root}`;
      byRoot.set(key, [...(byRoot.get(key) ?? []), rule]);
    }
  }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let applied = 0;
    for (const node of graph.sorted()) {
      for (const rule of byRoot.get(`${node.domain}:${node.opType}`) ?? []) {
        if (!graph.nodes.has(node)) break;
        if (applyRule(graph, rule, node, trace, questions)) applied++;
      }
    }
    if (applied === 0) return round > 0;
  }
  trace.didNotConverge(MAX_ROUNDS);
  return true;
}

function applyRule(graph: Graph, rule: Rule, root: Node, trace: Trace, questions: Questions): boolean {
  // Skips a node if nothing reads its first output, or if a sub-graph reads this output by name.
  const [first] = root.outputs;
  if (!first || isCaptured(first) || !graph.isUsed(first)) return false;
  const miss: NearMiss = { depth: 0, node: undefined, why: "" };
  const found = rule.pattern === undefined ? EMPTY : match(rule.pattern, root.output, miss);
  if (!found) {
    if (miss.depth >= 2) trace.nearMiss(rule, root, miss.node ?? root, miss.why, miss.depth);
    return false;
  }
  const leak = leakOf(graph, rule, root, found);
  if (leak) {
    trace.nearMiss(
      rule,
      root,
      leak.producer ?? root,
      `${leak.name} is also read by nodes outside the pattern`,
      found.nodes.size,
    );
    return false;
  }
  const added: Node[] = [];
  const pairs = pairsOf(root, rule.apply(rewriteOf(graph, root, found, added, questions)), added);
  if (pairs === undefined) return false;
  if (pairs instanceof Refusal) {
    trace.nearMiss(rule, root, pairs.node ?? root, pairs.why, found.nodes.size + 1);
    graph.prune(added);
    return false;
  }
  for (const [before, after] of pairs) graph.replace(before, after);
  graph.prune([...found.nodes, root, ...pairs.flatMap(([before]) => before.producer ?? [])]);
  trace.applied(rule);
  return true;
}

type Pair = readonly [before: Value, after: Value];

/** Returns the values to replace, or the reason why they cannot be replaced. */
function pairsOf(root: Node, result: ReturnType<Rule["apply"]>, added: readonly Node[]) {
  if (!result || result instanceof Refusal) return result;
  const pairs: readonly Pair[] = result instanceof Value ? [[root.output, result]] : result;
  return refusalOf(pairs) ?? unsupportedType(added) ?? pairs;
}

/** Whether a sub-graph reads the value by name. Such a value cannot be replaced. */
const isCaptured = (value: Value) => [...value.users].some((user) => user.captures.includes(value));

function refusalOf(pairs: readonly Pair[]): Refusal | undefined {
  for (const [before, after] of pairs) {
    if (isCaptured(before)) return new Refusal(`a sub-graph reads ${before.name} by name`, before.producer);
    // If a matched constant has leading axes of size 1, the original output can have more axes than the new one.
    if (differs(before.shape, after.shape))
      return new Refusal("the fused operator has another output shape", before.producer);
  }
  return undefined;
}

/** Types that onnxruntime's fused operators support. */
const fusedTypes: readonly (DataType | undefined)[] = ["float32", "float16"];

function unsupportedType(added: readonly Node[]): Refusal | undefined {
  const node = added.find(({ domain, output }) => domain === MICROSOFT && !fusedTypes.includes(output.dtype));
  return node && new Refusal(`onnxruntime has no ${node.opType} for ${node.output.dtype ?? "an unknown type"}`, node);
}

const differs = (a: Shape | undefined, b: Shape | undefined) =>
  a !== undefined &&
  b !== undefined &&
  (a.length !== b.length || a.some((dim, i) => [dim, b[i]].some(isNumber) && dim !== b[i]));

const isNumber = (dim: Dim | undefined) => typeof dim === "number";

const EMPTY: Match = { values: new Map(), nodes: new Set() };

/** Finds an intermediate value of the match that is also needed outside the match: by another node or as an output. */
function leakOf(graph: Graph, rule: Rule, root: Node, { nodes, values }: Match): Value | undefined {
  const shared = new Set(rule.shared.map((name) => values.get(name)));
  for (const node of nodes) {
    if (node === root) continue;
    for (const value of node.outputs) {
      if (!value || shared.has(value)) continue;
      if (graph.isOutput(value) || [...value.users].some((user) => !nodes.has(user))) return value;
    }
  }
  return undefined;
}

function rewriteOf(graph: Graph, root: Node, { values }: Match, added: Node[], questions: Questions): Rewrite {
  const value = (name: string): Value => {
    const found = values.get(name);
    if (!found) throw new Error(`The pattern does not bind ${name}`);
    return found;
  };
  return {
    graph,
    root,
    value,
    maybe: (name) => values.get(name),
    tensor(name) {
      const { constant } = value(name);
      if (!constant) throw new Error(`The pattern does not bind ${name} to a constant`);
      return constant;
    },
    number: (name) => uniformValue(value(name)) ?? Number.NaN,
    add(opType: string, inputs: readonly (Value | undefined)[], options?: NodeOptions): Node {
      const node = graph.add(opType, inputs, { name: root.origin, origin: root.origin, ...options });
      added.push(node);
      inferNode(graph, node);
      return node;
    },
    constant: (name: string, tensor: Tensor) => graph.constant(name, tensor),
    ask: (question, of) => questions.ask(question, of),
  };
}
