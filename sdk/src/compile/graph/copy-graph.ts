import { Graph } from "./graph.ts";
import type { Value } from "./node.ts";

/** Copies a graph. The copy shares the tensors, because tensors are never modified. */
export function copyGraph(graph: Graph): Graph {
  const copy = new Graph(graph.name);
  const copies = new Map<Value, Value>();
  for (const [domain, version] of graph.opsets) copy.opsets.set(domain, version);
  for (const input of graph.inputs) {
    const twin = copy.input(input.name, input);
    copies.set(input, twin);
    const declaration = graph.declarations.get(input);
    if (declaration) copy.declarations.set(twin, declaration);
    const defaultValue = graph.defaults.get(input);
    if (defaultValue) copy.defaults.set(twin, defaultValue);
  }
  const copyOf = (value: Value): Value => {
    const known = copies.get(value);
    if (known) return known;
    const twin = value.opaque
      ? copy.opaque(value.name, value.opaque)
      : copy.constant(value.name, value.constant as NonNullable<Value["constant"]>);
    copies.set(value, twin);
    return twin;
  };
  for (const node of graph.sorted()) {
    const twin = copy.add(
      node.opType,
      node.inputs.map((input) => input && copyOf(input)),
      { ...node, captures: node.captures.map(copyOf), outputs: node.outputs.map((output) => output?.name ?? "") },
    );
    node.outputs.forEach((output, i) => {
      const result = twin.outputs[i];
      if (!output || !result) return;
      copies.set(output, result);
      result.dtype = output.dtype;
      result.shape = output.shape;
      result.content = output.content;
    });
  }
  for (const { name, value, declaration } of graph.outputs)
    copy.outputs.push({ name, value: copyOf(value), declaration });
  return copy;
}
