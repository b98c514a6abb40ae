import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { readJson } from "../../files/json-file.ts";
import { MarkedLength } from "../config-keys.ts";

export const SENTENCE_CONFIG = "config_sentence_transformers.json";

const Schema = v.looseObject({
  model_type: v.nullish(v.string()),
  similarity_fn_name: v.nullish(v.string()),
  activation_fn: v.nullish(v.string()),
  query_prefix: v.nullish(v.string()),
  document_prefix: v.nullish(v.string()),
  query_length: v.nullish(MarkedLength),
  document_length: v.nullish(MarkedLength),
  skiplist_words: v.nullish(v.array(v.string())),
  do_query_expansion: v.nullish(v.boolean()),
  attend_to_expansion_tokens: v.nullish(v.boolean()),
});

/** The keys of config_sentence_transformers.json, apart from prompts. */
export type SentenceConfig = v.InferOutput<typeof Schema>;

/** Classes of sentence-transformers and PyLate that write the file. */
export const modelTypes = ["SentenceTransformer", "SparseEncoder", "CrossEncoder", "MultiVectorEncoder", "ColBERT"];

/**
 * Reads config_sentence_transformers.json.
 *
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for an unknown class
 */
export async function readSentenceConfig(folder: string): Promise<SentenceConfig> {
  const config = (await readJson(folder, SENTENCE_CONFIG, Schema)) ?? {};
  const { model_type: type } = config;
  // For sentence-transformers, null is another class than SentenceTransformer, whose modules it then does not load.
  if (type !== undefined && !modelTypes.includes(String(type))) {
    const file = join(folder, SENTENCE_CONFIG);
    throw new BertEdgeError("checkpoint_unsupported", `${file}: the model_type ${type} is not supported so far.`, {
      hint: `Supported: ${modelTypes.join(", ")}. Without the key, the model is a SentenceTransformer.`,
    });
  }
  return config;
}
