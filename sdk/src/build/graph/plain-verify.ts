import { BertEdgeError } from "../../artifact/error.ts";
import type { Graph } from "./plain.ts";

/**
 * Checks what every pass may rely on: each value has one definition, and it comes before every use.
 *
 * @throws BertEdgeError `graph_invalid` naming the value and the node
 */
export function verify(graph: Graph): void {
  const defined = new Set<string>();
  const define = (value: string, where: string) => {
    if (defined.has(value)) throw invalid(graph, `${value} is defined a second time by ${where}`);
    defined.add(value);
  };
  for (const input of graph.inputs) define(input.name, "a graph input");
  for (const name of graph.initializers.keys()) define(name, "an initializer");
  for (const node of graph.nodes) {
    for (const input of node.inputs) {
      if (input !== "" && !defined.has(input)) {
        throw invalid(graph, `${node.opType} ${node.name} reads ${input}, which nothing before it defines`);
      }
    }
    for (const output of node.outputs) if (output !== "") define(output, `${node.opType} ${node.name}`);
  }
  for (const output of graph.outputs) {
    if (!defined.has(output.name)) throw invalid(graph, `output ${output.name} is never computed`);
  }
}

const invalid = (graph: Graph, what: string) =>
  new BertEdgeError("graph_invalid", `Graph ${graph.name}: ${what}.`, {
    hint: "This is a fault of bert-edge, not of your model: please report it with the model's config.json.",
  });
