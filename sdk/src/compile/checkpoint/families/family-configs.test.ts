import { describe, expect, it } from "vitest";
import { caseOf } from "#test/fixtures/classifier-case.ts";
import { parsedConfig } from "#test/fixtures/parsed-config.ts";

/** Keys of config.json of small models. */
const jina = caseOf("jina, geglu").config;
const gte = caseOf("gte").config;
const original = caseOf("new").config;
const deberta = caseOf("deberta-v2").config;
const euroBert = caseOf("eurobert").config;

describe("the configuration of", () => {
  it("JinaBERT has ALiBi's biases instead of positions, and gated activations", () => {
    expect(parsedConfig(jina)).toMatchObject({
      modelType: "bert",
      hasPositionTable: false,
      hasLinearBiases: true,
      isGated: true,
      activation: "gelu",
      hasIntermediateBias: false,
      hasOutputBias: true,
    });
    expect(parsedConfig({ ...jina, feed_forward_type: "reglu" })).toMatchObject({ isGated: true, activation: "relu" });
    expect(parsedConfig({ ...jina, feed_forward_type: "original", hidden_act: "silu" })).toMatchObject({
      isGated: false,
      activation: "silu",
      hasIntermediateBias: true,
    });
  });

  it("GTE keeps the base and the scaling of its rotary embedding", () => {
    expect(parsedConfig(original)).toMatchObject({
      rotaryTheta: [20, 20],
      rotaryScaling: { factor: 8, mixedExponent: undefined },
      tokenTypes: 1,
    });
    const mixed = { type: "ntk", factor: 4, mixed_b: 0.5 };
    expect(parsedConfig({ ...original, rope_scaling: mixed }).rotaryScaling).toEqual({ factor: 4, mixedExponent: 0.5 });
    expect(parsedConfig({ ...original, rope_scaling: null }).rotaryScaling).toBeUndefined();
    expect(parsedConfig(gte)).toMatchObject({ rotaryTheta: [250, 250], rotaryScaling: undefined });
    const { rope_parameters: _, ...others } = gte;
    expect(parsedConfig(others).rotaryTheta).toEqual([160_000, 160_000]);
    const { rope_theta: __, ...originals } = original;
    expect(parsedConfig(originals).rotaryTheta).toEqual([10_000, 10_000]);
  });

  it("DistilBERT's keys may have the names of other families, which then count", () => {
    const own = { model_type: "distilbert", vocab_size: 20, dim: 8, n_layers: 2, n_heads: 2, hidden_dim: 12 };
    const given = { ...own, max_position_embeddings: 16 };
    expect(parsedConfig(given)).toMatchObject({ layers: 2, heads: 2, hiddenSize: 8 });
    expect(parsedConfig({ ...given, num_hidden_layers: 1, num_attention_heads: 4 })).toMatchObject({
      layers: 1,
      heads: 4,
    });
  });

  it("EuroBERT has RMSNorm and shares heads of keys and values", () => {
    expect(parsedConfig(euroBert)).toMatchObject({
      normalization: "RMSNorm",
      heads: 4,
      keyValueHeads: 2,
      rotaryTheta: [250, 250],
      hasPositionTable: false,
      normalizesFirst: true,
      isGated: true,
    });
    const { rope_parameters: _, num_key_value_heads: __, ...others } = euroBert;
    expect(parsedConfig({ ...others, rope_theta: 7 })).toMatchObject({ rotaryTheta: [7, 7], keyValueHeads: 4 });
    expect(parsedConfig(others).rotaryTheta).toEqual([10_000, 10_000]);
  });

  it("DeBERTa-v2 has terms of relative positions", () => {
    expect(parsedConfig(deberta)).toMatchObject({
      hasPositionTable: false,
      scoreTerms: 3,
      disentangledAttention: {
        maxDistance: 16,
        buckets: 4,
        span: 4,
        hasContentToPosition: true,
        hasPositionToContent: true,
        sharesProjections: true,
        normalizes: true,
      },
    });
    expect(parsedConfig({ ...deberta, pos_att_type: "c2p" })).toMatchObject({
      scoreTerms: 2,
      disentangledAttention: { hasContentToPosition: true, hasPositionToContent: false },
    });
    expect(parsedConfig({ ...deberta, relative_attention: false, position_biased_input: true })).toMatchObject({
      hasPositionTable: true,
      disentangledAttention: undefined,
    });
    expect(parsedConfig({ ...deberta, position_buckets: -1, max_relative_positions: 5 })).toMatchObject({
      disentangledAttention: { maxDistance: 5, buckets: undefined, span: 5 },
    });
  });

  it.each([
    ["bert", "layer_norm_eps"],
    ["deberta-v2", "layer_norm_eps"],
    ["eurobert", "rms_norm_eps"],
    ["gte", "layer_norm_eps"],
    ["jina, geglu", "layer_norm_eps"],
    ["modernbert", "norm_eps"],
    ["mpnet", "layer_norm_eps"],
    ["nomic_bert", "layer_norm_eps"],
  ])("%s has an epsilon between 0 and 1", (name, key) => {
    const keys = caseOf(name).config;
    expect(parsedConfig({ ...keys, [key]: 1e-3 })).toMatchObject({ layerNormEpsilon: 1e-3 });
    for (const epsilon of [-1e30, 0, 1.5, 1e300]) expect(() => parsedConfig({ ...keys, [key]: epsilon })).toThrow(key);
  });

  it.each<[string, object, string]>([
    ["DeBERTa-v2 with a convolution", { ...deberta, conv_kernel_size: 3 }, "convolutions (conv_kernel_size)"],
    ["DeBERTa-v2 with p2p", { ...deberta, pos_att_type: ["p2p"] }, "pos_att_type may only have c2p and p2c"],
    ["DeBERTa-v2 with narrow embeddings", { ...deberta, embedding_size: 16 }, "embedding_size that is not hidden_size"],
    ["DeBERTa-v2 with wide heads", { ...deberta, attention_head_size: 16 }, "attention_head_size must be"],
    ["DeBERTa-v2 with an odd number of buckets", { ...deberta, position_buckets: 5 }, "position_buckets must be even"],
    ["DeBERTa-v2 with another norm", { ...deberta, norm_rel_ebd: "batch_norm" }, "norm_rel_ebd must be"],
    ["JinaBERT with another gate", { ...jina, feed_forward_type: "swiglu" }, "feed_forward_type must be"],
    ["JinaBERT as a decoder", { ...jina, is_decoder: true }, "decoders (causal attention) are not encoders"],
    ["GTE with a position table", { ...original, position_embedding_type: "absolute" }, "only rotary embeddings"],
    ["GTE with RMSNorm", { ...original, layer_norm_type: "rms_norm" }, "only layer_norm is supported"],
    ["GTE with scores by length", { ...original, logn_attention_scale: true }, "the length of the text"],
    ["GTE with linear scaling", { ...original, rope_scaling: { type: "linear", factor: 2 } }, "rotary scaling ntk"],
    ["GTE with a shrinking scale", { ...original, rope_scaling: { type: "ntk", factor: 0.5 } }, "factor"],
    ["GTE with scaling in transformers 5", { ...gte, rope_parameters: { rope_type: "yarn" } }, "scaled rotary"],
    ["EuroBERT with scaling", { ...euroBert, rope_scaling: { type: "dynamic" } }, "scaled rotary embeddings"],
    ["EuroBERT with wide heads", { ...euroBert, head_dim: 16 }, "head_dim must be hidden_size / num_attention_heads"],
    ["EuroBERT with uneven groups", { ...euroBert, num_key_value_heads: 3 }, "multiple of num_key_value_heads"],
  ])("refuses %s", (_, keys, message) => {
    expect(() => parsedConfig(keys)).toThrow(message);
  });
});
