import * as v from "valibot";
import { ActivationName, Count, Epsilon, encoderKeys, integerFrom, sizeKeys } from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import {
  bertClassifier,
  bertLanguageModel,
  clsHead,
  type FamilyHeads,
  fixedHead,
  languageModel,
  robertaClassifier,
  robertaLanguageModel,
  tokenHeads,
} from "../head-formula.ts";
import { bertLayer, bertNames, type EncoderNames, type Family, type LayerNames } from "./family.ts";
import { jinaBertConfig, jinaBertNames } from "./jina-bert.ts";

// BERT                                                                             https://arxiv.org/abs/1810.04805

export const bertKeys = {
  ...encoderKeys,
  ...sizeKeys,
  type_vocab_size: v.optional(Count, 2),
  layer_norm_eps: v.optional(Epsilon, 1e-12),
  hidden_act: v.optional(ActivationName, "gelu"),
  position_embedding_type: v.optional(
    v.literal(
      "absolute",
      "only absolute position embeddings are supported so far (and alibi, for the model_type bert)",
    ),
    "absolute",
  ),
};

const bertSchema = v.pipe(
  v.object({ ...bertKeys, model_type: v.literal("bert") }),
  v.transform((config) => bertConfig(config)),
);

/** Schema of BERT and JinaBERT. JinaBERT's config.json has BERT's model_type, so position_embedding_type decides. */
const bertOrJinaBert = v.lazy(
  (keys): v.GenericSchema<unknown, EncoderConfig> =>
    Object(keys).position_embedding_type === "alibi" ? jinaBertConfig : bertSchema,
);

export const bert: Family = {
  config: bertOrJinaBert,
  names: [bertNames, ...jinaBertNames],
  heads: { ...tokenHeads, "sequence-classification": bertClassifier, "masked-lm": fixedHead(bertLanguageModel) },
};

// RoBERTa and its variants for other languages: BERT whose positions start after the id of the padding token
//                                                                                  https://arxiv.org/abs/1907.11692

const robertaSchema = v.pipe(
  v.object({
    ...bertKeys,
    model_type: v.picklist(["roberta", "xlm-roberta", "camembert"]),
    pad_token_id: v.optional(integerFrom(0), 1),
  }),
  v.transform((config): EncoderConfig => ({ ...bertConfig(config), positionPaddingId: config.pad_token_id })),
);

const robertaNames: EncoderNames = { ...bertNames, prefix: "roberta." };

export const roberta: Family = {
  config: robertaSchema,
  names: [robertaNames],
  heads: { ...tokenHeads, "sequence-classification": robertaClassifier, "masked-lm": fixedHead(robertaLanguageModel) },
};

// ELECTRA: BERT whose embedding size can differ from its hidden size               https://arxiv.org/abs/2003.10555

const electraSchema = v.pipe(
  v.object({ ...bertKeys, model_type: v.literal("electra"), embedding_size: v.optional(Count, 128) }),
  v.transform(
    (config): EncoderConfig => ({
      ...bertConfig(config),
      embeddingSize: config.embedding_size,
      hasEmbeddingProjection: config.embedding_size !== config.hidden_size,
    }),
  ),
);

const electraNames: EncoderNames = { ...bertNames, prefix: "electra.", projection: "embeddings_project" };

const electraHeads: FamilyHeads = {
  ...tokenHeads,
  /** RoBERTa's head with GELU instead of tanh. */
  "sequence-classification": fixedHead(
    clsHead({ dense: () => "classifier.dense", activation: "gelu" }, "classifier.out_proj"),
  ),
  "masked-lm": fixedHead(
    languageModel(
      {
        dense: "generator_predictions.dense",
        norm: "generator_predictions.LayerNorm",
        output: "generator_lm_head",
        bias: "generator_lm_head.bias",
      },
      { activation: "gelu", width: "embedding" },
    ),
  ),
};

export const electra: Family = { config: electraSchema, names: [electraNames], heads: electraHeads };

// MPNet: BERT without token types, with relative position biases added to scores   https://arxiv.org/abs/2004.09297

const mpnetSchema = v.pipe(
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

const mpnetLayer = (index: number): LayerNames => {
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

const mpnetNames: EncoderNames = { ...bertNames, prefix: "mpnet.", layer: mpnetLayer };

export const mpnet: Family = {
  config: mpnetSchema,
  names: [mpnetNames],
  heads: { ...tokenHeads, "sequence-classification": robertaClassifier, "masked-lm": fixedHead(robertaLanguageModel) },
};
