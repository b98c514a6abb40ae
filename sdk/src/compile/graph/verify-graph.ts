import { BertEdgeError } from "../../artifact/error.ts";
import type { Graph } from "./graph.ts";
import type { Value } from "./node.ts";

/**
 * Checks what every edit must keep: nothing reads a value that the graph does not have, values know exactly their users,
 * names are unique, and there is no circle.
 *
 * @throws BertEdgeError `graph_invalid`
 */
export function verifyGraph(graph: Graph): void {
  const refuse = (what: string) =>
    new BertEdgeError("graph_invalid", `Graph ${graph.name}: ${what}.`, {
      hint: "If this graph was made by bert-edge, that is a mistake in it: please report it.",
    });
  const inputs = new Set(graph.inputs);
  const has = (value: Value) =>
    value.isConstant || (value.producer ? graph.nodes.has(value.producer) : inputs.has(value));
  const names = new Map<string, Value>();
  const name = (value: Value) => {
    if (names.has(value.name) && names.get(value.name) !== value) throw refuse(`two values are named ${value.name}`);
    names.set(value.name, value);
  };
  graph.inputs.forEach(name);
  for (const node of graph.nodes) {
    for (const value of [...node.inputs, ...node.captures, ...node.outputs]) {
      if (!value) continue;
      if (!has(value)) throw refuse(`${node.opType} ${node.name} reads ${value.name}, which nothing defines`);
      name(value);
    }
    for (const value of [...node.inputs, ...node.captures]) {
      if (value && !value.users.has(node)) throw refuse(`${value.name} does not know its user ${node.name}`);
    }
  }
  for (const value of names.values()) {
    for (const user of value.users) {
      if (!graph.nodes.has(user)) throw refuse(`${user.name}, which reads ${value.name}, is not in the graph`);
      if (!user.inputs.includes(value) && !user.captures.includes(value)) {
        throw refuse(`${user.name} is said to read ${value.name}, but does not`);
      }
    }
  }
  for (const { name, value } of graph.outputs) if (!has(value)) throw refuse(`output ${name} is never computed`);
  graph.sorted();
}
