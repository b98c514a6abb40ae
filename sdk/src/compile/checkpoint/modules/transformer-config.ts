import { join } from "node:path";
import * as v from "valibot";
import { readJson } from "../../files/json-file.ts";
import { integerFrom } from "../config-keys.ts";
import { transformerFiles } from "./key-tables.ts";

const Length = v.nullish(integerFrom(3));
const Transformer = v.looseObject({
  max_seq_length: Length,
  do_lower_case: v.nullish(v.boolean()),
  transformer_task: v.nullish(v.string()),
});
/** `model_max_length` is 10³⁰ for tokenizers without a maximum length. `max_len` is its old name. */
const TokenizerConfig = v.object({ model_max_length: Length, max_len: Length });

/** Configuration of a Transformer module. */
interface TransformerConfig {
  /** Maximum text length in tokens; undefined if only the position table limits it. */
  readonly maxTokens: number | undefined;
  /** Task of the module; undefined if the file does not say it. */
  readonly task: string | undefined;
}

/**
 * Reads the configuration of a Transformer module.
 *
 * @param path folder of the module
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function readTransformerConfig(folder: string, path: string): Promise<TransformerConfig> {
  const tokenizer = await readJson(folder, join(path, "tokenizer_config.json"), TokenizerConfig);
  const found = (await findTransformerConfig(folder, path))?.config;
  return {
    maxTokens: found?.max_seq_length ?? tokenizer?.model_max_length ?? tokenizer?.max_len ?? undefined,
    task: found?.transformer_task ?? undefined,
  };
}

/**
 * Reads whether the Transformer module in a model folder lower-cases texts before the tokenizer's own normalization.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function readLowercases(folder: string): Promise<boolean> {
  return (await findTransformerConfig(folder, ""))?.config.do_lower_case ?? false;
}

/**
 * Returns the first of sentence_bert_config.json, sentence_roberta_config.json, … that is not empty. sentence-transformers tries
 * the same names in the same order.
 *
 * @param path folder of the module
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function findTransformerConfig(folder: string, path: string) {
  for (const name of transformerFiles) {
    const file = join(path, name);
    const config = await readJson(folder, file, Transformer);
    if (config && Object.keys(config).length > 0) return { file, config };
  }
  return undefined;
}

const Normalizer = v.looseObject({ type: v.string() });
type Normalizer = v.InferOutput<typeof Normalizer>;
const Steps = v.looseObject({ normalizers: v.array(Normalizer) });
const BertNormalizer = v.looseObject({ lowercase: v.boolean(), strip_accents: v.nullish(v.boolean()) });
const Tokenizer = v.looseObject({ normalizer: v.nullish(Normalizer) });

const LOWERCASE: Normalizer = { type: "Lowercase" };

/**
 * Returns a tokenizer.json that lower-cases texts before its own normalization, as sentence-transformers does for `do_lower_case`.
 * A tokenizer that has this step stays as it is.
 *
 * @param json content of tokenizer.json. Invalid content is returned as it is: the code that reads the tokenizer refuses it.
 */
export function lowerCased(json: object): object {
  const { success, output } = v.safeParse(Tokenizer, json);
  return success ? { ...output, normalizer: withLowercase(output.normalizer ?? undefined) } : json;
}

function withLowercase(normalizer: Normalizer | undefined): Normalizer {
  if (!normalizer || normalizer.type === LOWERCASE.type) return LOWERCASE;
  if (normalizer.type === "Sequence" && v.is(Steps, normalizer)) {
    const { normalizers } = normalizer;
    const has = normalizers.some(({ type }) => type === LOWERCASE.type);
    return has ? normalizer : { ...normalizer, normalizers: [LOWERCASE, ...normalizers] };
  }
  // BERT's normalizer can lower-case by itself. Without strip_accents, it strips accents if it lower-cases. So a missing
  // strip_accents gets the old value of lowercase.
  if (normalizer.type === "BertNormalizer" && v.is(BertNormalizer, normalizer)) {
    return { ...normalizer, lowercase: true, strip_accents: normalizer.strip_accents ?? normalizer.lowercase };
  }
  return { type: "Sequence", normalizers: [LOWERCASE, normalizer] };
}
