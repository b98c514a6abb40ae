import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Similarity } from "../../../artifact/manifest.ts";
import { unnamedPrompts } from "../../../runtime/tasks/prompt.ts";
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
type SentenceConfig = v.InferOutput<typeof Schema>;

/** Classes of sentence-transformers and PyLate that write the file. */
const modelTypes = ["SentenceTransformer", "SparseEncoder", "CrossEncoder", "MultiVectorEncoder", "ColBERT"];

/**
 * Reads config_sentence_transformers.json.
 *
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for an unknown class
 */
export async function readSentenceConfig(folder: string): Promise<SentenceConfig> {
  const config = (await readJson(folder, SENTENCE_CONFIG, Schema)) ?? {};
  const { model_type: type } = config;
  // null is refused, too: sentence-transformers takes it for another class, and then does not load the folder's modules.
  if (type !== undefined && !modelTypes.includes(String(type))) {
    const file = join(folder, SENTENCE_CONFIG);
    throw new BertEdgeError("checkpoint_unsupported", `${file}: the model_type ${type} is not supported so far.`, {
      hint: `Supported: ${modelTypes.join(", ")}. Without the key, the model is a SentenceTransformer.`,
    });
  }
  return config;
}

const PromptConfig = v.object({
  prompts: v.nullish(v.record(v.string(), v.nullish(v.string()))),
  default_prompt_name: v.nullish(v.string()),
});

/** Prompts of a sentence encoder, by name. Both keys are missing if it has only the empty default prompts. */
export interface Prompts {
  readonly prompts?: Record<string, string>;
  readonly defaultPrompt?: string;
}

/**
 * Reads the prompts that sentence-transformers puts before texts. The prompts for queries and documents are empty if the file
 * does not name them: no other prompt replaces them.
 *
 * @throws BertEdgeError `checkpoint_invalid` if the default prompt does not exist
 */
export async function readPrompts(folder: string): Promise<Prompts> {
  const config = await readJson(folder, SENTENCE_CONFIG, PromptConfig);
  const named = Object.entries(config?.prompts ?? {}).map(([key, prompt]) => [key, prompt ?? ""] as const);
  const prompts: Record<string, string> = { ...unnamedPrompts, ...Object.fromEntries(named) };
  const name = config?.default_prompt_name ?? undefined;
  if (name !== undefined && !Object.hasOwn(prompts, name)) {
    throw new BertEdgeError(
      "checkpoint_invalid",
      `${folder}/${SENTENCE_CONFIG}: the default prompt ${name} does not exist.`,
      {
        hint: `Correct default_prompt_name. The file has these prompts: ${Object.keys(prompts).join(", ")}.`,
      },
    );
  }
  if (Object.entries(prompts).every(([key, prompt]) => prompt === "" && Object.hasOwn(unnamedPrompts, key))) return {};
  return { prompts, ...(name !== undefined && { defaultPrompt: name }) };
}

/** Functions that compare vectors, by their names in sentence-transformers. undefined: the cosine, which is the default. */
const similarities: Readonly<Record<string, Similarity | undefined>> = {
  cosine: undefined,
  dot: "dot",
  dot_product: "dot",
  euclidean: "euclidean",
  manhattan: "manhattan",
};

/**
 * Returns how sentence-transformers compares a model's vectors; undefined for cosines, its default.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for another function
 */
export function similarityOf(
  folder: string,
  { similarity: name = "cosine" }: { readonly similarity?: string | undefined },
): Similarity | undefined {
  if (Object.hasOwn(similarities, name)) return similarities[name];
  const file = join(folder, SENTENCE_CONFIG);
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${file}: the similarity_fn_name ${name} is not supported so far.`,
    {
      hint: `Supported: ${Object.keys(similarities).join(", ")}. Without the key, vectors are compared by their cosine.`,
    },
  );
}
