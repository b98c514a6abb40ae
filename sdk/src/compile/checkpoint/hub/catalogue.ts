import * as v from "valibot";
import json from "#embedded/catalogue";
import { integerFrom } from "../config-keys.ts";

const Positive = integerFrom(1);

/** A model of the catalogue: what its files and its card on the Hugging Face Hub say. */
const CatalogueModel = v.strictObject({
  /** `organization/model` on the Hub. */
  hub: v.string(),
  use: v.picklist(["embedding", "rerank", "sentiment", "entities", "questions", "zero-shot"]),
  /** `model_type` of config.json. */
  family: v.string(),
  /** SPDX identifier in lower case, as on the card. */
  licence: v.string(),
  /** Language codes, or `multilingual`. */
  languages: v.array(v.string()),
  maxTokens: Positive,
  /** Pooling and prompts of sentence encoders. */
  pooling: v.optional(v.picklist(["mean", "cls"])),
  prompts: v.optional(v.record(v.string(), v.string())),
  /** Sizes in config.json, from which the size of the weights follows. */
  shape: v.strictObject({
    layers: Positive,
    hidden: Positive,
    feedForward: Positive,
    vocabulary: Positive,
    gated: v.optional(v.literal(true)),
    /** How attention knows positions, if not by a table that is added to the token embeddings. */
    positions: v.optional(v.union([v.picklist(["rotary", "distances"]), v.strictObject({ buckets: Positive })])),
  }),
});
export type CatalogueModel = v.InferOutput<typeof CatalogueModel>;

const Catalogue = v.record(v.string(), CatalogueModel);

let read: Readonly<Record<string, CatalogueModel>> | undefined;

/** Returns the models of the catalogue, by name. The build collects them from models/*.json. */
export function catalogue(): Readonly<Record<string, CatalogueModel>> {
  read ??= v.parse(Catalogue, JSON.parse(json));
  return read;
}

/** Finds a model by its name in the catalogue; undefined if there is none of this name. */
export const catalogueModel = (name: string): CatalogueModel | undefined =>
  Object.hasOwn(catalogue(), name) ? catalogue()[name] : undefined;

/** Finds a model by its name on the Hub. */
export const catalogueModelOf = (hub: string): CatalogueModel | undefined =>
  Object.values(catalogue()).find((model) => model.hub.toLowerCase() === hub.toLowerCase());
