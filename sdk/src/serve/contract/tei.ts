import * as v from "valibot";
import type { Side, Truncation } from "../../runtime/truncation.ts";
import { EmbedInputs, LatencyBudget, notList, PositiveInteger, Texts, TokenIdLists } from "./fields.ts";

// Bodies of text-embeddings-inference: https://huggingface.github.io/text-embeddings-inference

/** The server cuts inputs that are too long unless a request forbids it, as text-embeddings-inference does by default. */
const cutting = {
  truncate: v.nullish(v.boolean(), true),
  truncation_direction: v.nullish(v.picklist(["Left", "left", "Right", "right"])),
};
const common = { ...cutting, latency_budget_ms: LatencyBudget };

const Cutting = v.object(cutting);

/** Returns where inputs are cut. Default: where the model's own tokenizer cuts them. */
export const teiTruncation = (wishes?: v.InferOutput<typeof Cutting> | null): Truncation =>
  wishes ? wishes.truncate && ((wishes.truncation_direction?.toLowerCase() as Side | undefined) ?? true) : true;

/** The body of `POST /embed`. */
export const TeiEmbedRequest = v.object({
  inputs: EmbedInputs,
  ...common,
  prompt_name: v.nullish(v.string()),
  normalize: v.nullish(v.boolean(), true),
  dimensions: v.nullish(PositiveInteger),
});

/** The body of `POST /embed_all` and `POST /embed_sparse`. */
export const TeiTokensRequest = v.object({ inputs: Texts, ...common, prompt_name: v.nullish(v.string()) });

const Pair = v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(2, "must have one or two strings"));

/** The body of `POST /predict`: a text, a pair of texts as a list, or a list of lists. */
export const TeiPredictRequest = v.object({
  inputs: v.union(
    [v.string(), Pair, v.array(Pair)],
    "must be a string, a list of one or two strings, or a list of such lists",
  ),
  raw_scores: v.nullish(v.boolean(), false),
  ...common,
});

/** The body of `POST /rerank`. */
export const TeiRerankRequest = v.object({
  query: v.string(),
  texts: v.array(v.string()),
  raw_scores: v.nullish(v.boolean(), false),
  return_text: v.nullish(v.boolean(), false),
  ...common,
});

/** The body of `POST /similarity`. */
export const TeiSimilarityRequest = v.object({
  inputs: v.object({ source_sentence: v.string(), sentences: v.array(v.string()) }),
  parameters: v.nullish(notList(Cutting)),
  latency_budget_ms: LatencyBudget,
});

/** The body of `POST /tokenize`. */
export const TeiTokenizeRequest = v.object({
  inputs: Texts,
  add_special_tokens: v.nullish(v.boolean(), true),
  prompt_name: v.nullish(v.string()),
});

const TeiToken = v.object({
  id: v.number(),
  /** The part of the text; of a special token, its spelling. */
  text: v.string(),
  special: v.boolean(),
  /** Code points before and up to the end of the token; null for special tokens. */
  start: v.nullable(v.number()),
  stop: v.nullable(v.number()),
});
export type TeiToken = v.InferOutput<typeof TeiToken>;

const Vectors = v.array(v.array(v.number()));
const TeiLabels = v.array(v.object({ label: v.string(), score: v.number() }));

/** Answers of text-embeddings-inference, by the name of the route. */
export const teiResponses = {
  embed: Vectors,
  embedAll: v.array(Vectors),
  embedSparse: v.array(v.array(v.object({ index: v.number(), value: v.number() }))),
  predict: v.union([TeiLabels, v.array(TeiLabels)]),
  rerank: v.array(v.object({ index: v.number(), score: v.number(), text: v.exactOptional(v.string()) })),
  similarity: v.array(v.number()),
  tokenize: v.array(v.array(TeiToken)),
  decode: v.array(v.string()),
};

/** The body of `POST /decode`. */
export const TeiDecodeRequest = v.object({
  ids: TokenIdLists,
  skip_special_tokens: v.nullish(v.boolean(), true),
});

/** The body of an error. */
export const TeiErrorBody = v.object({
  error: v.string(),
  error_type: v.picklist(["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"]),
});
export type TeiErrorBody = v.InferOutput<typeof TeiErrorBody>;
