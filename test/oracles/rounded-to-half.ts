import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { int, type Node, type Value } from "#sdk/compile/graph/node.ts";
import { tensor, toFloat32 } from "#sdk/compile/graph/tensor.ts";
import { inferShapes } from "#sdk/compile/shapes/infer-shapes.ts";
import { CAST } from "../fixtures/sketch.ts";

/**
 * Converts an fp16 graph to a float32 graph that computes the same results as a GPU. Operators compute in float32, and
 * each float16 output is rounded to float16. Without this conversion, onnxruntime's CPU build would hide overflows: it
 * runs operators without a float16 kernel in float32, and removes the casts between two such operators.
 */
export function roundedToHalf(half: Graph): Graph {
  const graph = copyGraph(half);
  inferShapes(graph);
  const halves = new Set<Value>();
  const isHalf = (value: Value | undefined): value is Value => value?.dtype === "float16";
  const declared = graph.outputs.filter(({ value }) => isHalf(value));
  for (const value of graph.constants()) {
    if (!value.constant || !isHalf(value)) continue;
    const { shape } = value.constant;
    graph.replace(value, graph.constant(value.name, tensor("float32", shape, toFloat32(value.constant))));
  }
  for (const input of graph.inputs.filter(isHalf)) {
    const wide = graph.add("Cast", [], { attributes: { to: int(CAST.float32) } });
    graph.replace(input, wide.output);
    graph.setInputs(wide, [input]);
    halves.add(wide.output);
  }
  for (const node of graph.sorted()) {
    const [value] = node.inputs;
    if (node.is("Cast") && node.int("to") === CAST.float32 && value && halves.has(value))
      graph.replace(node.output, value);
    for (const output of node.outputs.filter(isHalf)) halves.add(round(graph, node, output));
  }
  for (const output of declared) output.value = cast(graph, output.value, CAST.float16);
  graph.prune();
  return graph;
}

/** Rounds a node's output to float16 before it is read. Returns the rounded value, which all readers then use. */
function round(graph: Graph, node: Node, output: Value): Value {
  const readers = [...output.users];
  const returned = graph.outputs.filter(({ value }) => value === output);
  const half = node.is("Cast") ? output : cast(graph, output, CAST.float16);
  const rounded = cast(graph, half, CAST.float32);
  for (const reader of readers) {
    graph.setInputs(
      reader,
      reader.inputs.map((input) => (input === output ? rounded : input)),
    );
  }
  for (const each of returned) each.value = rounded;
  return rounded;
}

const cast = (graph: Graph, value: Value, to: number): Value =>
  graph.add("Cast", [value], { attributes: { to: int(to) } }).output;
