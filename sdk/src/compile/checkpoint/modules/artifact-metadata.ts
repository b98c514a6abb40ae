import * as v from "valibot";
import { readJson } from "../../files/json-file.ts";
import { MarkedLength } from "../config-keys.ts";
import { type KeyTable, noEffect, obeyed, only } from "./key-table.ts";

export const ARTIFACT_METADATA = "artifact.metadata";

const training = noEffect("a setting of training");
const indexing = noEffect("a setting of an index or a search");
const ofRun = noEffect("a place or a name on the machine that trained the model");

/** artifact.metadata of Stanford's ColBERT: https://github.com/stanford-futuredata/ColBERT */
export const artifactMetadataKeys: KeyTable = {
  query_token_id: obeyed,
  doc_token_id: obeyed,
  query_maxlen: obeyed,
  doc_maxlen: obeyed,
  mask_punctuation: obeyed,
  attend_to_mask_tokens: obeyed,
  query_token: noEffect("a name of the marker for people"),
  doc_token: noEffect("a name of the marker for people"),
  dim: noEffect("the width of linear.weight"),
  similarity: only(["cosine"], "Token vectors are compared by MaxSim of cosines."),
  interaction: only(["colbert"], "Token vectors are compared by MaxSim of cosines."),
  ...Object.fromEntries(
    ["bsize", "accumsteps", "lr", "maxsteps", "save_every", "warmup", "warmup_bert", "relu", "nway", "resume"]
      .concat(["use_ib_negatives", "reranker", "distillation_alpha", "ignore_scores", "amp", "rank", "nranks", "gpus"])
      .map((key) => [key, training]),
  ),
  ...Object.fromEntries(
    ["ncells", "centroid_score_threshold", "ndocs", "index_path", "nbits", "kmeans_niters", "index_bsize"]
      .concat(["load_index_with_mmap", "avoid_fork_if_possible"])
      .map((key) => [key, indexing]),
  ),
  ...Object.fromEntries(
    ["model_name", "checkpoint", "triples", "collection", "queries", "index_name", "overwrite", "root", "experiment"]
      .concat(["index_root", "name", "meta"])
      .map((key) => [key, ofRun]),
  ),
};

const Schema = v.looseObject({
  query_token_id: v.nullish(v.string()),
  doc_token_id: v.nullish(v.string()),
  query_maxlen: v.nullish(MarkedLength),
  doc_maxlen: v.nullish(MarkedLength),
  mask_punctuation: v.nullish(v.boolean()),
  attend_to_mask_tokens: v.nullish(v.boolean()),
});

/**
 * Reads artifact.metadata of Stanford's ColBERT.
 *
 * @returns undefined if there is no such file
 * @throws BertEdgeError `checkpoint_invalid`
 */
export const readArtifactMetadata = (folder: string): Promise<v.InferOutput<typeof Schema> | undefined> =>
  readJson(folder, ARTIFACT_METADATA, Schema);
