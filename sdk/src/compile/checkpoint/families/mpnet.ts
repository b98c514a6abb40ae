import * as v from "valibot";
import { ActivationName, Count, Epsilon, encoderKeys, sizeKeys } from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import type { EncoderNames, LayerNames } from "../encoder-names.ts";
import { fixedHead, robertaClassifier, robertaLanguageModel, tokenHeads } from "../head-formula.ts";
import { bertLayer, bertNames } from "./bert-names.ts";
import type { Family } from "./family.ts";

// MPNet: BERT without token types, with relative position biases added to scores   https://arxiv.org/abs/2004.09297

const config = v.pipe(
  v.object({
    ...encoderKeys,
    ...sizeKeys,
    model_type: v.literal("mpnet"),
    layer_norm_eps: v.optional(Epsilon, 1e-12),
    hidden_act: v.optional(ActivationName, "gelu"),
    relative_attention_num_buckets: v.optional(v.pipe(Count, v.multipleOf(2)), 32),
  }),
  v.transform(
    (config): EncoderConfig => ({
      ...bertConfig({ ...config, type_vocab_size: 0 }),
      relativePositionBuckets: config.relative_attention_num_buckets,
      // Always 1, because transformers' MPNet ignores pad_token_id when it numbers positions.
      positionPaddingId: 1,
    }),
  ),
);

const layer = (index: number): LayerNames => {
  const attention = `encoder.layer.${index}.attention`;
  return {
    ...bertLayer(index),
    query: `${attention}.attn.q`,
    key: `${attention}.attn.k`,
    value: `${attention}.attn.v`,
    attentionOutput: `${attention}.attn.o`,
    attentionNorm: `${attention}.LayerNorm`,
  };
};

const names: EncoderNames = { ...bertNames, prefix: "mpnet.", layer };

export const mpnet: Family = {
  config,
  names: [names],
  heads: { ...tokenHeads, "sequence-classification": robertaClassifier, "masked-lm": fixedHead(robertaLanguageModel) },
};
