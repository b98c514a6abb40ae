import { expect } from "vitest";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { verifyGraph } from "#sdk/compile/graph/verify-graph.ts";
import { integerMatMuls } from "#sdk/compile/quantize/qdq/integer-matmuls.ts";
import { printGraph } from "../fixtures/print-graph.ts";
import { Sketch } from "../fixtures/sketch.ts";
import { countOperators, expectSame, type Options, only } from "./rewritten.ts";

/**
 * Applies `integerMatMuls` to a sketch. Expects the new graph to be valid and to compute the same results. Expects the
 * graph of the sketch to stay unchanged.
 */
export async function integerForm(
  draw: (sketch: Sketch) => void,
  options: Options = {},
): Promise<{ graph: Graph; counts: Readonly<Record<string, number>> }> {
  const sketch = new Sketch(options.opset);
  draw(sketch);
  await only()(sketch.graph);
  const before = printGraph(sketch.graph);
  const graph = await integerMatMuls(sketch.graph);
  verifyGraph(graph);
  expect(printGraph(sketch.graph)).toBe(before);
  await expectSame(graph, sketch.graph, options);
  return { graph, counts: countOperators(graph) };
}
