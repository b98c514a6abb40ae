import { BertEdgeError } from "../../artifact/error.ts";
import type { Graph } from "./graph.ts";
import type { Value } from "./node.ts";

/**
 * Checks the invariants of a graph: every value that is read is defined, each value's `users` are exactly its readers, names
 * are unique, and there is no cycle.
 *
 * @throws BertEdgeError `graph_invalid`
 */
export function verifyGraph(graph: Graph): void {
  const refuse = (what: string) =>
    new BertEdgeError("graph_invalid", `The graph ${graph.name} is invalid: ${what}.`, {
      hint: "If bert-edge made this graph, please report the problem. Otherwise export the model again.",
    });
  const inputs = new Set(graph.inputs);
  const has = (value: Value) =>
    value.isConstant || (value.producer ? graph.nodes.has(value.producer) : inputs.has(value));
  const names = new Map<string, Value>();
  const name = (value: Value) => {
    if (names.has(value.name) && names.get(value.name) !== value)
      throw refuse(`two values have the name ${value.name}`);
    names.set(value.name, value);
  };
  graph.inputs.forEach(name);
  for (const node of graph.nodes) {
    for (const value of [...node.inputs, ...node.captures, ...node.outputs]) {
      if (!value) continue;
      if (!has(value)) throw refuse(`node ${node.name} (${node.opType}) reads ${value.name}, which is not defined`);
      name(value);
    }
    for (const value of [...node.inputs, ...node.captures]) {
      if (value && !value.users.has(node)) throw refuse(`${value.name} does not list its user ${node.name}`);
    }
  }
  for (const value of names.values()) {
    for (const user of value.users) {
      if (!graph.nodes.has(user)) throw refuse(`node ${user.name} reads ${value.name}, but is not in the graph`);
      if (!user.inputs.includes(value) && !user.captures.includes(value)) {
        throw refuse(`${value.name} lists the user ${user.name}, which does not read it`);
      }
    }
  }
  for (const { name, value } of graph.outputs) if (!has(value)) throw refuse(`output ${name} is not computed`);
  graph.sorted();
}
