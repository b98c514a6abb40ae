import * as v from "valibot";
import { type EncoderConfig, MIN_TOKENS, maxTokensOf } from "./encoder-config.ts";
import type { Family } from "./families/family.ts";
import { families } from "./families/index.ts";

const modelTypes = Object.keys(families);
const FamilyKey = v.looseObject({
  model_type: v.picklist(modelTypes, `only these families are supported so far: ${modelTypes.join(", ")}`),
});

/** Schema of config.json for all families that can be imported. */
export const EncoderConfigJson: v.GenericSchema<unknown, EncoderConfig> = v.pipe(
  FamilyKey,
  v.transform((keys): unknown => keys),
  v.lazy((keys) => (families[(keys as v.InferOutput<typeof FamilyKey>).model_type] as Family).config),
  v.check(({ hiddenSize, heads }) => hiddenSize % heads === 0, "hidden_size must be a multiple of num_attention_heads"),
  v.check(
    ({ layers, layerGroups }) => layers % layerGroups === 0,
    "num_hidden_layers must be a multiple of num_hidden_groups",
  ),
  v.check(
    ({ rotaryTheta, hiddenSize, heads }) => rotaryTheta === undefined || hiddenSize % (2 * heads) === 0,
    "a rotary embedding needs heads of an even size",
  ),
  v.check(
    (config) => maxTokensOf(config) >= MIN_TOKENS,
    "max_position_embeddings must leave room for three tokens after pad_token_id",
  ),
);
