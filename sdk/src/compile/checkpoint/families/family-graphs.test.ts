import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { caseOf, writeClassifier } from "#test/fixtures/classifier-case.ts";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { fuseGraph } from "../../fusions/fuse-graph.ts";
import { countFused } from "../../fusions/fused-operators.ts";
import { encoderGraph } from "../encoder-graph.ts";
import { encoderWeights } from "../encoder-weights.ts";

/** Fuses the encoder of a case. All have two layers. */
async function fusedCase(name: string) {
  const folder = join(await temporaryFolder(), "model");
  await writeClassifier(folder, caseOf(name));
  const classifier = await readHeadedModel(folder, "sequence-classification");
  const graph = encoderGraph(classifier.config, encoderWeights(classifier));
  await fuseGraph(graph);
  return graph;
}

describe("the fused operators of", () => {
  it.each<[string, Record<string, number>]>([
    ["jina, geglu", { Attention: 2, SkipLayerNormalization: 5, Gelu: 2 }],
    ["jina, qk-post-norm", { MultiHeadAttention: 2, SkipLayerNormalization: 7, LayerNormalization: 4, Gelu: 2 }],
    ["new", { MultiHeadAttention: 2, RotaryEmbedding: 4, SkipLayerNormalization: 4, LayerNormalization: 1, Gelu: 2 }],
    [
      "gte, no token types",
      { MultiHeadAttention: 2, RotaryEmbedding: 4, SkipLayerNormalization: 4, LayerNormalization: 1 },
    ],
    [
      "eurobert",
      {
        MultiHeadAttention: 2,
        RotaryEmbedding: 4,
        SkipSimplifiedLayerNormalization: 4,
        SimplifiedLayerNormalization: 1,
      },
    ],
    ["deberta-v2", { MultiHeadAttention: 2, SkipLayerNormalization: 4, LayerNormalization: 1, BiasGelu: 2 }],
    ["deberta-v2, absolute", { EmbedLayerNormalization: 1, Attention: 2, SkipLayerNormalization: 4, BiasGelu: 2 }],
  ])("%s", async (name, counts) => {
    expect(countFused(await fusedCase(name))).toEqual(counts);
  });

  it("DeBERTa-v2 get its projected position embeddings as constants", async () => {
    const graph = await fusedCase("deberta-v2");
    const scores = [...graph.nodes].filter((node) => node.opType === "GatherElements").map(({ inputs }) => inputs[0]);
    expect(scores).toHaveLength(4);
    for (const product of scores) {
      const used = product?.producer?.inputs[1]?.producer;
      expect(used?.opType).toBe("Slice");
      expect(used?.inputs[0]?.constant?.shape).toEqual([4, 8, 8]);
    }
  });
});
