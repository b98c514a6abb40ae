import { describe, expect, it } from "vitest";
import { attendedStates, type Batch, largestDifference, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { type TinyOptions, tinyBert } from "#test/fixtures/tiny-bert.ts";
import { encoderGraph } from "./encoder-graph.ts";

/**
 * Maximum difference between the outputs of both graphs. In two layers, the graphs compute float32 sums in different
 * orders. A sum has at most 64 terms around 1.
 */
const FLOAT32_ROUNDING = 1e-5;

const masks = {
  "one token": [[1]],
  "no padding": [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 1, 1],
  ],
  "padding on the right": [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 1, 0, 0, 0],
    [1, 0, 0, 0, 0, 0],
  ],
  "padding on the left": [
    [1, 1, 1, 1, 1, 1],
    [0, 0, 0, 1, 1, 1],
    [0, 0, 0, 0, 0, 1],
  ],
  "every kind of padding in one batch": [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1],
    [0, 1, 1, 0, 1, 0],
  ],
  "all positions that there are": [Array(16).fill(1)],
};

const bothStates = async (options: TinyOptions, batch: Batch) => {
  const { config, weights } = tinyBert(options);
  return Promise.all([
    attendedStates(encoderGraph(config, weights), batch),
    fusedGraph(config, weights).then((fused) => attendedStates(fused, batch)),
  ]);
};

describe("the fused graph", () => {
  it.each(Object.entries(masks))("equals the decomposed one with %s", async (_, mask) => {
    const [decomposed, fused] = await bothStates({}, randomBatch(mask, 50));
    expect(decomposed).toHaveLength(mask.flat().filter(Boolean).length);
    expect(largestDifference(decomposed, fused)).toBeLessThan(FLOAT32_ROUNDING);
  });

  it.each<[string, TinyOptions]>([
    ["other weights", { seed: 2 }],
    ["one head", { config: { num_attention_heads: 1 } }],
    ["heads of one number", { config: { num_attention_heads: 32 } }],
    ["a width that no block divides", { config: { hidden_size: 12, num_attention_heads: 3, intermediate_size: 20 } }],
    ["one layer", { config: { num_hidden_layers: 1 } }],
    ["a large epsilon", { config: { layer_norm_eps: 0.1 } }],
  ])("equals the decomposed one with %s", async (_, options) => {
    const batch = randomBatch(masks["every kind of padding in one batch"], 50);
    const [decomposed, fused] = await bothStates(options, batch);
    expect(largestDifference(decomposed, fused)).toBeLessThan(FLOAT32_ROUNDING);
  });

  it("has one operator per sub-layer, and otherwise only casts", async () => {
    const { config, weights } = tinyBert();
    const layer = ["Attention", "BiasGelu", "MatMul", "MatMul", "MatMul", "SkipLayerNormalization"];
    const operators = [...(await fusedGraph(config, weights)).nodes].map(({ opType }) => opType).sort();
    const embeddings = ["Cast", "Cast", "Cast", "EmbedLayerNormalization"];
    expect(operators).toEqual(
      [...embeddings, ...layer, "SkipLayerNormalization", ...layer, "SkipLayerNormalization"].sort(),
    );
  });
});

describe("both graphs", () => {
  it("ignore masked tokens", async () => {
    const batch = randomBatch(masks["every kind of padding in one batch"], 50);
    const masked = (value: number, row: number, column: number) => (batch.mask[row]?.[column] ? value : 49 - value);
    const others = { ...batch, ids: batch.ids.map((ids, row) => ids.map((id, column) => masked(id, row, column))) };
    expect(others.ids).not.toEqual(batch.ids);
    const [before, after] = [await bothStates({}, batch), await bothStates({}, others)];
    expect(largestDifference(before[0], after[0])).toBe(0);
    expect(largestDifference(before[1], after[1])).toBe(0);
  });

  it("depend on token order and token types", async () => {
    const batch = randomBatch([[1, 1, 1, 1]], 50);
    const { config, weights } = tinyBert();
    for (const graph of [encoderGraph(config, weights), await fusedGraph(config, weights)]) {
      const states = await attendedStates(graph, batch);
      const reversed = { ...batch, ids: batch.ids.map((row) => row.toReversed()) };
      const types = { ...batch, types: batch.types.map((row) => row.map((type) => 1 - type)) };
      for (const other of [reversed, types]) {
        expect(largestDifference(states, await attendedStates(graph, other))).toBeGreaterThan(0.01);
      }
    }
  });
});
