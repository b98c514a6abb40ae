import type * as ort from "onnxruntime-node";
import { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { numbersOf, type Tensor } from "../graph/tensor.ts";
import { fromOrt, ortSession, toOrt } from "./ort-session.ts";

/**
 * onnxruntime's log level for fatal errors only. Other errors are expected here: callers treat a value that cannot be
 * computed as unknown.
 */
const LOG_FATAL = 4;

/**
 * Computes values of a graph from other values. The nodes run on onnxruntime, so operators need no implementation here.
 * onnxruntime's optimizations are off, so that each node runs as it is in the graph.
 *
 * @param given known values; `wanted` may depend only on these values and on constants
 * @returns undefined if onnxruntime cannot run the nodes between `given` and `wanted`
 */
export async function runSubgraph(
  graph: Graph,
  wanted: readonly Value[],
  given: ReadonlyMap<Value, Tensor>,
): Promise<Tensor[] | undefined> {
  const between = nodesBetween(graph, wanted, given);
  if (between.some((node) => mayTrap(node, given))) return undefined;
  const part = new Graph("part");
  for (const [domain, version] of graph.opsets) part.opsets.set(domain, version);
  const copies = new Map<Value, Value>();
  const copyOf = (value: Value): Value => {
    const known = copies.get(value);
    if (known) return known;
    if (value.constant && !given.has(value)) {
      const copy = part.constant(value.name, value.constant);
      copies.set(value, copy);
      return copy;
    }
    if (!value.producer || given.has(value)) {
      const copy = part.input(value.name);
      const example = given.get(value);
      copy.dtype = example?.dtype;
      copy.shape = example?.shape;
      copies.set(value, copy);
      return copy;
    }
    throw new Error(`${value.name} is sorted before a value that it depends on`);
  };
  for (const node of between) {
    const copy = part.add(
      node.opType,
      node.inputs.map((input) => input && copyOf(input)),
      { ...node, captures: node.captures.map(copyOf), outputs: node.outputs.map((output) => output?.name ?? "") },
    );
    node.outputs.forEach((output, i) => {
      if (output) copies.set(output, copy.outputs[i] as Value);
    });
  }
  for (const value of wanted)
    part.outputs.push({ name: `${value.name}/wanted`, value: copyOf(value), declaration: undefined });

  let session: ort.InferenceSession | undefined;
  try {
    session = await ortSession(part, {
      graphOptimizationLevel: "disabled",
      intraOpNumThreads: 1,
      logSeverityLevel: LOG_FATAL,
    });
    const feeds: Record<string, ort.Tensor> = {};
    for (const [value, example] of given) {
      const name = copies.get(value)?.name;
      if (name !== undefined && session.inputNames.includes(name)) feeds[name] = toOrt(example);
    }
    const results = await session.run(feeds);
    return part.outputs.map(({ name }) => fromOrt(results[name] as ort.Tensor));
  } catch {
    return undefined;
  } finally {
    await session?.release();
  }
}

/**
 * Whether an integer division may end the process: onnxruntime does not catch the CPU exception for divisors 0 and −1.
 */
function mayTrap(node: Node, given: ReadonlyMap<Value, Tensor>): boolean {
  const [, divisor] = node.inputs;
  if (!(node.is("Div") || node.is("Mod")) || !divisor || divisor.dtype?.includes("float")) return false;
  const known = given.get(divisor) ?? divisor.constant;
  return !known || numbersOf(known).some((value) => value === 0 || value === -1);
}

/** Returns the nodes that compute `wanted` from `given` and constants, in order. */
function nodesBetween(graph: Graph, wanted: readonly Value[], given: ReadonlyMap<Value, Tensor>): Node[] {
  const seen = new Set<Node>();
  const stack: (Value | undefined)[] = [...wanted];
  while (stack.length > 0) {
    const value = stack.pop();
    if (!value?.producer || given.has(value) || seen.has(value.producer)) continue;
    seen.add(value.producer);
    stack.push(...value.producer.inputs, ...value.producer.captures);
  }
  return graph.sorted().filter((node) => seen.has(node));
}
