import type { EncoderNames, LayerNames } from "../encoder-names.ts";

export const bertLayer = (index: number): LayerNames => {
  const layer = `encoder.layer.${index}`;
  return {
    query: `${layer}.attention.self.query`,
    key: `${layer}.attention.self.key`,
    value: `${layer}.attention.self.value`,
    attentionOutput: `${layer}.attention.output.dense`,
    attentionNorm: `${layer}.attention.output.LayerNorm`,
    intermediate: `${layer}.intermediate.dense`,
    output: `${layer}.output.dense`,
    feedForwardNorm: `${layer}.output.LayerNorm`,
  };
};

/** Names of BERT's tensors. Other families start from these names and change some. */
export const bertNames: EncoderNames = {
  prefix: "bert.",
  tokens: "embeddings.word_embeddings",
  norm: "embeddings.LayerNorm",
  layer: bertLayer,
};
