import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";

/** Consecutive nodes of a graph that run together. */
export interface GraphSection {
  readonly nodes: readonly Node[];
  /** Values that later sections read: results of these nodes and of earlier nodes. */
  readonly leaves: readonly Value[];
}

/**
 * Divides a graph into sections that run one after the other. A section reads values of earlier sections, so the whole
 * graph runs only once, but only one section is in memory. A section ends where later nodes read the fewest values: in
 * encoders, between two layers.
 *
 * @param bytesOf returns the bytes of memory that a node needs while its section runs
 * @param maxBytes maximum number of these bytes for a section. A node that needs more has a section of its own.
 */
export function sectionsOf(graph: Graph, bytesOf: (node: Node) => number, maxBytes: number): GraphSection[] {
  const nodes = graph.sorted();
  const leavesAfter = leavesOf(nodes, graph);
  const sections: GraphSection[] = [];
  let start = 0;
  while (start < nodes.length) {
    let bytes = bytesOf(nodes[start] as Node);
    let end = start + 1;
    while (end < nodes.length && bytes + bytesOf(nodes[end] as Node) <= maxBytes)
      bytes += bytesOf(nodes[end++] as Node);
    if (end < nodes.length) end = narrowest(leavesAfter, start + 1, end);
    sections.push({ nodes: nodes.slice(start, end), leaves: leavesAfter[end - 1] ?? [] });
    start = end;
  }
  return sections;
}

/** Returns the end from `first` to `last` after which later nodes read the fewest values. Of several such ends, returns the last. */
function narrowest(leavesAfter: readonly (readonly Value[])[], first: number, last: number): number {
  let best = last;
  for (let end = last; end >= first; end--)
    if ((leavesAfter[end - 1]?.length ?? 0) < (leavesAfter[best - 1]?.length ?? 0)) best = end;
  return best;
}

/** Returns a list for every node: the results of this node and of earlier nodes that later nodes read. */
function leavesOf(nodes: readonly Node[], graph: Graph): Value[][] {
  const position = new Map(nodes.map((node, i) => [node, i]));
  const lastRead = (value: Value) => Math.max(-1, ...[...value.users].map((user) => position.get(user) ?? -1));
  let live: { readonly value: Value; readonly until: number }[] = [];
  return nodes.map((node, i) => {
    const made = node.outputs.filter((value) => value !== undefined && graph.isUsed(value)) as Value[];
    live = [...live, ...made.map((value) => ({ value, until: lastRead(value) }))].filter(({ until }) => until > i);
    return live.map(({ value }) => value);
  });
}
