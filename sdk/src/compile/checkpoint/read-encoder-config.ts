import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { type EncoderConfig, MIN_TOKENS, maxTokensOf } from "./encoder-config.ts";
import type { Family } from "./families/family.ts";
import { families } from "./families/index.ts";
import { modelsBelow } from "./missing-file.ts";
import { readConfig } from "./model-folder.ts";

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

const FamilyKeys = v.looseObject({
  model_type: v.optional(v.unknown()),
  architectures: v.optional(v.unknown()),
});

/**
 * Reads the encoder's configuration from a folder's config.json.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function readEncoderConfig(folder: string): Promise<EncoderConfig> {
  const keys = await readConfig(folder, FamilyKeys);
  if (keys.model_type === undefined) throw noFamily(folder, keys.architectures);
  return readConfig(folder, EncoderConfigJson);
}

function noFamily(folder: string, architectures: unknown): BertEdgeError {
  const file = join(folder, "config.json");
  const below = modelsBelow(folder, readdirSync(folder, { withFileTypes: true }), "config.json");
  const family = familyOf([architectures].flat()[0]);
  const known = `"model_type": ${JSON.stringify(family ?? "bert")}`;
  return new BertEdgeError(
    "checkpoint_invalid",
    `${file} has no model_type${below ? `, but ${below.but.replace(/ does$/, "")} has one` : ""}.`,
    {
      hint:
        below?.hint ??
        `Add the line ${known} to it${family === undefined ? ", if the model is a BERT" : ""}. Supported families: ${Object.keys(families).join(", ")}.`,
    },
  );
}

/** Returns the family whose name is the beginning of a class's name: `xlm-roberta` for XLMRobertaModel. */
function familyOf(architecture: unknown): string | undefined {
  const name = String(architecture).toLowerCase();
  const begins = Object.keys(families).filter((family) => name.startsWith(family.replaceAll(/[-_]/g, "")));
  return begins.toSorted((a, b) => b.length - a.length)[0];
}
