import { describe, expect, it } from "vitest";
import { attendedStates, largestDifference, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { parsedConfig } from "#test/fixtures/parsed-config.ts";
import { tinyNomic } from "#test/fixtures/tiny-nomic.ts";
import { countFused } from "../../fusions/fused-operators.ts";
import { maxTokensOf } from "../encoder-config.ts";
import { encoderGraph } from "../encoder-graph.ts";
import { encoderWeights } from "../encoder-weights.ts";

/**
 * Maximum difference between the outputs of two graphs. In two layers, the graphs compute float32 sums in different
 * orders. A sum has at most 256 terms around 1. Measured: 1.7e-6.
 */
const FLOAT32_ROUNDING = 1e-5;

/** The config.json keys of nomic-embed-text-v1.5 that change what the model computes. */
const original = {
  model_type: "nomic_bert",
  architectures: ["NomicBertModel"],
  activation_function: "swiglu",
  causal: false,
  layer_norm_epsilon: 1e-12,
  max_trained_positions: 2048,
  mlp_fc1_bias: false,
  mlp_fc2_bias: false,
  n_embd: 768,
  n_head: 12,
  n_inner: 3072,
  n_layer: 2,
  n_positions: 8192,
  pad_vocab_size_multiple: 64,
  prenorm: false,
  qkv_proj_bias: false,
  rotary_emb_base: 1000,
  rotary_emb_fraction: 1.0,
  rotary_emb_interleaved: false,
  rotary_emb_scale_base: null,
  rotary_scaling_factor: null,
  type_vocab_size: 2,
  vocab_size: 30_528,
};

/** The same configuration in the keys of transformers 5. */
const current = {
  model_type: "nomic_bert",
  hidden_size: 768,
  num_hidden_layers: 2,
  num_attention_heads: 12,
  intermediate_size: 3072,
  hidden_act: "silu",
  layer_norm_eps: 1e-12,
  max_position_embeddings: 8192,
  rope_parameters: { rope_type: "default", rope_theta: 1000 },
  vocab_size: 30_528,
};

describe("a NomicBERT's configuration", () => {
  it("is the same from both sets of keys", () => {
    expect(parsedConfig(original)).toEqual(parsedConfig(current));
    expect(parsedConfig(original)).toMatchObject({
      rotaryTheta: [1000, 1000],
      isGated: true,
      normalizesFirst: false,
      hasIntermediateBias: false,
      hasOutputBias: false,
    });
  });

  it("rounds sizes up as nomic-ai's code does", () => {
    expect(parsedConfig({ ...original, vocab_size: 30_522 }).vocabularySize).toBe(30_528);
    expect(parsedConfig({ ...original, n_inner: 2000 }).intermediateSize).toBe(2048);
    expect(parsedConfig({ ...original, n_inner: null }).intermediateSize).toBe(2048);
  });

  it("limits texts with scaled positions to the training length", () => {
    expect(maxTokensOf(parsedConfig(original))).toBe(8192);
    expect(maxTokensOf(parsedConfig({ ...original, rotary_scaling_factor: 2 }))).toBe(2048);
  });

  it.each<[string, object, string]>([
    ["an activation without gates", { ...original, activation_function: "gelu" }, "only the gated activations"],
    ["positions of half a head", { ...original, rotary_emb_fraction: 0.5 }, "whole heads"],
    ["interleaved positions", { ...original, rotary_emb_interleaved: true }, "interleaved rotary embeddings"],
    ["positions with a decay", { ...original, rotary_emb_scale_base: 512 }, "rotary embeddings with a decay"],
    ["one bias of two", { ...original, mlp_fc1_bias: true }, "mlp_fc1_bias and mlp_fc2_bias must be the same"],
    ["a decoder", { ...original, causal: true }, "decoders (causal attention) are not encoders"],
    ["layers that normalize first", { ...original, prenorm: true }, "pre-norm layers"],
    ["a mixture of experts", { ...original, num_experts: 8 }, "mixtures of experts"],
    ["scaled positions", { ...current, rope_parameters: { rope_type: "linear" } }, "scaled rotary embeddings"],
  ])("refuses %s", (_, keys, message) => {
    expect(() => parsedConfig(keys)).toThrow(message);
  });
});

describe("a NomicBERT's graph", () => {
  const batch = randomBatch(
    [
      [1, 1, 1, 1, 1, 1],
      [1, 1, 1, 0, 0, 0],
      [0, 0, 1, 1, 1, 1],
    ],
    50,
  );

  it("is the same from both checkpoint formats, decomposed and fused", async () => {
    const { current, original } = tinyNomic();
    const states = await attendedStates(encoderGraph(current.config, encoderWeights(current)), batch);
    for (const encoder of [current, original]) {
      const weights = encoderWeights(encoder);
      const fused = await fusedGraph(encoder.config, weights);
      expect(countFused(fused)).toEqual({ MultiHeadAttention: 2, RotaryEmbedding: 4, SkipLayerNormalization: 5 });
      for (const graph of [encoderGraph(encoder.config, weights), fused]) {
        expect(largestDifference(states, await attendedStates(graph, batch))).toBeLessThan(FLOAT32_ROUNDING);
      }
    }
  });

  it("reads the encoder of a masked language model's checkpoint in both formats", () => {
    const { current, original } = tinyNomic();
    for (const [prefix, encoder] of Object.entries({ "nomic_bert.": current, "bert.": original })) {
      const weights = new Map([...encoder.weights].map(([name, value]) => [prefix + name, value]));
      expect(encoderWeights({ ...encoder, weights })).toEqual(encoderWeights(encoder));
    }
  });

  it("names the missing tensor in both formats", () => {
    const { current, original } = tinyNomic();
    for (const [name, encoder] of Object.entries({
      "layers.1.mlp.up_proj.weight of shape [48,32]": current,
      "encoder.layers.1.attn.Wqkv.weight of shape [96,32]": original,
    })) {
      const weights = new Map(encoder.weights);
      weights.delete(name.replace(/ .*/, ""));
      expect(() => encoderWeights({ ...encoder, weights })).toThrow(`has no tensor ${name}.`);
    }
  });

  it("depends on token order and token types", async () => {
    const { current } = tinyNomic();
    const graph = await fusedGraph(current.config, encoderWeights(current));
    const text = randomBatch([[1, 1, 1, 1]], 50);
    const states = await attendedStates(graph, text);
    const reversed = { ...text, ids: text.ids.map((row) => row.toReversed()) };
    const types = { ...text, types: text.types.map((row) => row.map((type) => 1 - type)) };
    for (const other of [reversed, types]) {
      expect(largestDifference(states, await attendedStates(graph, other))).toBeGreaterThan(0.01);
    }
  });
});
