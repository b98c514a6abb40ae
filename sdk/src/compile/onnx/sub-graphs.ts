import type { GraphProto, NodeProto } from "../proto/onnx-messages.ts";

/** Returns the names of the values that a node's sub-graphs read from the enclosing graphs. */
export function freeNames(node: NodeProto): Set<string> {
  const free = new Set<string>();
  for (const { g, graphs } of node.attribute) {
    for (const graph of g ? [g, ...graphs] : graphs) for (const name of freeNamesOf(graph)) free.add(name);
  }
  return free;
}

/** Lists the names of the nodes and values inside a node's sub-graphs. */
export function* innerNames(node: NodeProto): Generator<string> {
  for (const { g, graphs } of node.attribute) {
    for (const graph of g ? [g, ...graphs] : graphs) {
      for (const { name = "" } of [...graph.input, ...graph.initializer]) yield name;
      for (const inner of graph.node) yield* [inner.name ?? "", ...inner.output, ...innerNames(inner)];
    }
  }
}

function freeNamesOf(graph: GraphProto): Set<string> {
  const own = new Set([...graph.input, ...graph.initializer].map(({ name = "" }) => name));
  for (const { output } of graph.node) for (const name of output) own.add(name);
  const read = graph.node.flatMap((node) => [...node.input, ...freeNames(node)]);
  const returned = graph.output.map(({ name = "" }) => name);
  return new Set([...read, ...returned].filter((name) => name !== "" && !own.has(name)));
}
