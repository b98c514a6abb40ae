import * as v from "valibot";
import { ActivationName, Count, Epsilon, encoderKeys, ListedLayers, sizeKeys } from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import { bertLayer, bertNames, type EncoderNames, type LayerNames } from "./family.ts";

// JinaBERT v2: BERT with ALiBi's biases instead of a position table, and with gated activations
//                                                                                  https://arxiv.org/abs/2310.19923
//
// Its config.json has the model_type of BERT. The code is https://huggingface.co/jinaai/jina-bert-implementation. There is a
// variant that also normalizes queries and keys: https://huggingface.co/jinaai/jina-bert-v2-qk-post-norm

/** Activation of each kind of gated layer. */
const gatedActivations = { geglu: "gelu", reglu: "relu" } as const;

export const jinaBertConfig = v.pipe(
  v.object({
    ...encoderKeys,
    ...sizeKeys,
    model_type: v.literal("bert"),
    num_hidden_layers: ListedLayers,
    position_embedding_type: v.literal("alibi"),
    type_vocab_size: v.optional(Count, 2),
    layer_norm_eps: v.optional(Epsilon, 1e-12),
    hidden_act: v.optional(ActivationName, "gelu"),
    feed_forward_type: v.optional(
      v.picklist(["original", "geglu", "reglu"], "feed_forward_type must be original, geglu or reglu"),
      "original",
    ),
  }),
  v.transform((config): EncoderConfig => {
    const { feed_forward_type: type } = config;
    const isGated = type !== "original";
    return {
      ...bertConfig({ ...config, hidden_act: isGated ? gatedActivations[type] : config.hidden_act }),
      hasPositionTable: false,
      hasLinearBiases: true,
      isGated,
      hasIntermediateBias: !isGated,
    };
  }),
);

const gatedLayer = (index: number): LayerNames => {
  const mlp = `encoder.layer.${index}.mlp`;
  return {
    ...bertLayer(index),
    intermediate: { name: `${mlp}.gated_layers`, part: 0, parts: 2 },
    upProjection: { name: `${mlp}.gated_layers`, part: 1, parts: 2 },
    output: `${mlp}.wo`,
    feedForwardNorm: `${mlp}.layernorm`,
  };
};

const layerWithQueryNorm = (index: number): LayerNames => {
  const layer = `encoder.layer.${index}`;
  return {
    ...bertLayer(index),
    queryNorm: `${layer}.attention.self.layer_norm_q`,
    keyNorm: `${layer}.attention.self.layer_norm_k`,
    secondAttentionNorm: `${layer}.layer_norm_1`,
    intermediate: { name: `${layer}.mlp.up_gated_layer`, part: 1, parts: 2 },
    upProjection: { name: `${layer}.mlp.up_gated_layer`, part: 0, parts: 2 },
    output: `${layer}.mlp.down_layer`,
    feedForwardNorm: `${layer}.layer_norm_2`,
  };
};

/** Names of JinaBERT's tensors, for checkpoints with gated layers. Without gates, the names are BERT's. */
export const jinaBertNames: readonly EncoderNames[] = [
  { ...bertNames, layer: gatedLayer },
  { ...bertNames, layer: layerWithQueryNorm },
];
