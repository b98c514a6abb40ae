import { expect } from "vitest";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { printGraph } from "#sdk/compile/graph/print-graph.ts";
import { verifyGraph } from "#sdk/compile/graph/verify-graph.ts";
import { integerMatMuls } from "#sdk/compile/quantize/qdq/integer-matmuls.ts";
import { Sketch } from "../fixtures/sketch.ts";
import { countOperators, expectSame, type Options, only } from "./rewritten.ts";

/**
 * Applies `integerMatMuls` to a copy of a sketch. Expects a valid graph that computes the same results, and expects
 * that the sketch itself does not change.
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
