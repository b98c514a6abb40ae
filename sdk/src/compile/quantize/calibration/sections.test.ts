import { describe, expect, it } from "vitest";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import type { Graph } from "../../graph/graph.ts";
import { sectionsOf } from "./sections.ts";

const { config, weights } = tinyBert();
const operators = (graph: Graph, maxNodes: number) =>
  sectionsOf(graph, () => 1, maxNodes).map(({ nodes, leaves }) => ({
    last: nodes.at(-1)?.opType,
    leaves: leaves.map(({ producer }) => producer?.opType),
  }));

describe("sectionsOf", () => {
  it("covers every node once, in an order in which they can run", async () => {
    const graph = await fusedGraph(config, weights);
    for (const maxNodes of [1, 2, 3, 7, 100]) {
      const nodes = sectionsOf(graph, () => 1, maxNodes).flatMap((section) => section.nodes);
      expect(nodes).toEqual(graph.sorted());
    }
  });

  it("makes one section of a graph that fits", async () => {
    const graph = await fusedGraph(config, weights);
    expect(sectionsOf(graph, () => 1, graph.nodes.size)).toHaveLength(1);
  });

  it("ends a section where only the hidden states are still to be read", async () => {
    const graph = await fusedGraph(config, weights);
    const parts = operators(graph, 8).slice(0, -1);
    expect(parts.length).toBeGreaterThan(0);
    for (const { last, leaves } of parts) {
      expect(leaves.filter((opType) => opType?.endsWith("LayerNormalization"))).toHaveLength(1);
      expect(last).toMatch(/LayerNormalization$/);
    }
  });

  it("gives a node that needs too much a section of its own", async () => {
    const graph = await fusedGraph(config, weights);
    const sections = sectionsOf(graph, (node) => (node.opType === "Attention" ? 10 : 0), 5);
    const own = sections.filter(({ nodes }) => nodes.some(({ opType }) => opType === "Attention"));
    expect(own.length).toBe([...graph.nodes].filter(({ opType }) => opType === "Attention").length);
  });
});
