import * as v from "valibot";
import { ActivationName, Count, Epsilon, encoderKeys, sizeKeys, supports, TypeCount } from "../config-keys.ts";
import { bertConfig, type DisentangledAttention, type EncoderConfig } from "../encoder-config.ts";
import { bertLanguageModel, clsHead, type FamilyHeads, languageModel, tokenHeads } from "../head-formula.ts";
import { bertLayer, bertNames, type EncoderNames, type Family, type LayerNames } from "./family.ts";

// DeBERTa-v2 and -v3: BERT whose attention scores have further terms, from the content of one token and the relative position of the
// other: content to position (c2p), and position to content (p2c). https://arxiv.org/abs/2006.03654

const TERMS = ["c2p", "p2c"] as const;
const Terms = v.pipe(
  v.union([
    v.pipe(
      v.string(),
      v.transform((terms) => terms.split("|")),
    ),
    v.array(v.string()),
  ]),
  v.transform((terms) => terms.map((term) => term.trim().toLowerCase()).filter((term) => term !== "")),
  v.array(v.picklist(TERMS, "pos_att_type may only have c2p and p2c")),
);

/** Normalization of the position embeddings. transformers ignores other words; this schema refuses them. */
const Normalization = v.pipe(
  v.string(),
  v.transform((kinds) => kinds.toLowerCase()),
  v.picklist(["none", "layer_norm"], "norm_rel_ebd must be none or layer_norm"),
);

const config = v.pipe(
  v.object({
    ...encoderKeys,
    ...sizeKeys,
    model_type: v.literal("deberta-v2"),
    type_vocab_size: v.optional(TypeCount, 0),
    layer_norm_eps: v.optional(Epsilon, 1e-7),
    hidden_act: v.optional(ActivationName, "gelu"),
    embedding_size: v.nullish(Count),
    attention_head_size: v.nullish(Count),
    conv_kernel_size: v.nullish(v.literal(0, "convolutions (conv_kernel_size) are not supported so far")),
    relative_attention: v.optional(v.boolean(), false),
    position_biased_input: v.optional(v.boolean(), true),
    pos_att_type: v.nullish(Terms, []),
    position_buckets: v.optional(v.number(), -1),
    max_relative_positions: v.optional(v.number(), -1),
    share_att_key: v.optional(v.boolean(), false),
    norm_rel_ebd: v.optional(Normalization, "none"),
  }),
  supports(
    ({ embedding_size, hidden_size }) => (embedding_size ?? hidden_size) === hidden_size,
    "an embedding_size that is not hidden_size is not supported so far",
  ),
  supports(
    ({ attention_head_size: size, hidden_size, num_attention_heads: heads }) => !size || size * heads === hidden_size,
    "attention_head_size must be hidden_size / num_attention_heads",
  ),
  supports(
    (config) => !config.relative_attention || config.position_buckets <= 0 || config.position_buckets % 2 === 0,
    "position_buckets must be even",
  ),
  v.transform(
    (config): EncoderConfig => ({
      ...bertConfig(config),
      hasPositionTable: config.position_biased_input,
      // The scores are a sum of terms of similar size: one between contents, and one for each kind in pos_att_type.
      scoreTerms: 1 + new Set(config.pos_att_type).size,
      disentangledAttention: config.relative_attention ? disentangled(config) : undefined,
    }),
  ),
);

interface RelativeKeys {
  readonly max_position_embeddings: number;
  readonly max_relative_positions: number;
  readonly position_buckets: number;
  readonly pos_att_type: readonly (typeof TERMS)[number][];
  readonly share_att_key: boolean;
  readonly norm_rel_ebd: "none" | "layer_norm";
}

function disentangled(config: RelativeKeys): DisentangledAttention {
  const maxDistance =
    config.max_relative_positions < 1 ? config.max_position_embeddings : Math.floor(config.max_relative_positions);
  const buckets = config.position_buckets > 0 ? Math.floor(config.position_buckets) : undefined;
  return {
    maxDistance,
    buckets,
    span: buckets ?? maxDistance,
    hasContentToPosition: config.pos_att_type.includes("c2p"),
    hasPositionToContent: config.pos_att_type.includes("p2c"),
    sharesProjections: config.share_att_key,
    normalizes: config.norm_rel_ebd === "layer_norm",
  };
}

const layer = (index: number): LayerNames => {
  const attention = `encoder.layer.${index}.attention.self`;
  return {
    ...bertLayer(index),
    query: `${attention}.query_proj`,
    key: `${attention}.key_proj`,
    value: `${attention}.value_proj`,
    positionKey: `${attention}.pos_key_proj`,
    positionQuery: `${attention}.pos_query_proj`,
  };
};

const names: EncoderNames = {
  ...bertNames,
  prefix: "deberta.",
  relativeEmbeddings: "encoder.rel_embeddings",
  relativeNorm: "encoder.LayerNorm",
  layer,
};

const classifier = v.pipe(
  v.looseObject({
    hidden_size: Count,
    pooler_hidden_size: v.nullish(Count),
    pooler_hidden_act: v.optional(v.union([v.literal("tanh"), ActivationName]), "gelu"),
  }),
  supports(
    ({ hidden_size, pooler_hidden_size }) => (pooler_hidden_size ?? hidden_size) === hidden_size,
    "a pooler_hidden_size that is not hidden_size is not supported so far",
  ),
  v.transform(({ pooler_hidden_act }) =>
    clsHead({ dense: () => "pooler.dense", activation: pooler_hidden_act }, "classifier"),
  ),
);

/** transformers writes the names of BERT's head unless `legacy` is false. */
const maskedLanguageModel = v.pipe(
  v.object({ legacy: v.optional(v.boolean(), true) }),
  v.transform(({ legacy }) =>
    legacy
      ? bertLanguageModel
      : languageModel({
          dense: "lm_predictions.lm_head.dense",
          norm: "lm_predictions.lm_head.LayerNorm",
          output: "lm_predictions.lm_head.decoder",
          bias: "lm_predictions.lm_head.bias",
        }),
  ),
);

const heads: FamilyHeads = {
  ...tokenHeads,
  "sequence-classification": classifier,
  "masked-lm": maskedLanguageModel,
};

export const debertaV2: Family = { config, names: [names], heads };
