import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { caseOf, writeClassifier } from "#test/fixtures/classifier-case.ts";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { countOperators } from "#test/oracles/rewritten.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { headGraph } from "../checkpoint/head-graph.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node } from "../graph/node.ts";
import { EDGE } from "../graph/operators.ts";
import { lowerGraph } from "../lower/lower-graph.ts";
import { precisions } from "./precisions.ts";
import { relativeTerms } from "./relative-terms.ts";

async function fusedCase(name: string): Promise<Graph> {
  const folder = join(await temporaryFolder(), "model");
  await writeClassifier(folder, caseOf(name));
  const graph = headGraph(await readHeadedModel(folder, "sequence-classification"));
  await fuseGraph(graph);
  return graph;
}

const nodesOf = (graph: Graph, opType: string): Node[] => [...graph.nodes].filter((node) => node.opType === opType);
const size = { maxTokens: 16, vocabulary: 40 };

describe("terms of relative positions", () => {
  it.each([
    ["deberta-v2", true, true],
    ["deberta-v2, c2p", true, false],
    ["deberta-v2, p2c", false, true],
  ])("are recognized in %s", async (name, ofQueries, ofKeys) => {
    const graph = await fusedCase(name);
    for (const { inputs } of nodesOf(graph, "MultiHeadAttention")) {
      const [query, key, , , , bias] = inputs;
      const terms = bias && relativeTerms(bias);
      expect(terms?.ofQueries?.x).toBe(ofQueries ? query : undefined);
      expect(terms?.ofKeys?.x).toBe(ofKeys ? key : undefined);
      expect(terms?.buckets.shape).toHaveLength(4);
    }
    const counts = countOperators(await precisions["int8-edge"](graph)());
    expect(counts).toMatchObject({ DynamicQuantizePositionScores: 2, DynamicQuantizeAttention: 2 });
    expect(counts).not.toHaveProperty("GatherElements");
  });

  it("are not ALiBi's biases", async () => {
    const graph = await fusedCase("jina, geglu");
    for (const { inputs } of nodesOf(graph, "Attention")) {
      const bias = inputs[5];
      expect(bias && relativeTerms(bias)).toBeUndefined();
      expect(bias).toBeDefined();
    }
  });

  it("are not terms of two different tables of buckets", async () => {
    const graph = await fusedCase("deberta-v2");
    const [attention] = nodesOf(graph, "MultiHeadAttention");
    const [gather] = nodesOf(graph, "GatherElements");
    const expand = gather?.inputs[1]?.producer as Node;
    const [buckets, shape] = expand.inputs;
    const other = graph.add("Identity", [buckets], { name: "other" }).output;
    other.shape = buckets?.shape;
    graph.setInputs(expand, [other, shape]);
    expect(relativeTerms(attention?.inputs[5] as NonNullable<Node["inputs"][0]>)).toBeUndefined();
  });

  it("are refused by the edge engine if their attention reads other queries", async () => {
    const graph = await precisions["int8-edge"](await fusedCase("deberta-v2"))();
    const [scores] = nodesOf(graph, "DynamicQuantizePositionScores") as [Node];
    expect(scores.domain).toBe(EDGE);
    const [buckets, , ...rest] = scores.inputs;
    graph.setInputs(scores, [buckets, scores.inputs[5], ...rest]);
    const error = await lowerGraph(graph, size).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BertEdgeError);
    expect(error).toMatchObject({
      code: "engine_unsupported",
      message: expect.stringContaining("is not the query or key"),
    });
  });

  it("are refused by the edge engine if a bucket does not exist", async () => {
    const graph = await precisions["int8-edge"](await fusedCase("deberta-v2"))();
    for (const node of nodesOf(graph, "DynamicQuantizePositionScores")) {
      const [buckets, ...rest] = node.inputs;
      const doubled = graph.add("Add", [buckets, buckets], { name: `${node.name}.doubled` }).output;
      graph.setInputs(node, [doubled, ...rest]);
    }
    await expect(lowerGraph(graph, size)).rejects.toMatchObject({
      code: "engine_unsupported",
      message: expect.stringContaining("it uses a bucket that"),
    });
  });
});
