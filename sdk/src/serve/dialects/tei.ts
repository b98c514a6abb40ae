import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { totalLength } from "../../artifact/total-length.ts";
import { classifyCall } from "../../runtime/tasks/classify.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { promptOf } from "../../runtime/tasks/prompt.ts";
import { rerankCall, similarityCall } from "../../runtime/tasks/rerank.ts";
import { sparseCall } from "../../runtime/tasks/sparse.ts";
import { tokenVectorsCall } from "../../runtime/tasks/token-vectors.ts";
import { type TextInput, textsOf } from "../../runtime/text-input.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";
import type { Truncation } from "../../runtime/truncation.ts";
import { errorStatus, type HttpErrorCode } from "../contract/errors.ts";
import {
  bodyOf,
  EmbedInputs,
  ModelField,
  objectOf,
  PositiveInteger,
  PromptName,
  ScoredLabel,
  Texts,
  TokenIdLists,
  TruncateFlag,
  TruncationDirection,
} from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { formatVector } from "../contract/vector-text.ts";
import { codePointsBefore } from "../routes/code-points.ts";
import { type Dialect, inOneSentence } from "../routes/dialect.ts";
import { listResponse } from "../routes/in-parts.ts";
import { taskAt } from "../routes/task-route.ts";
import { tokenizerAt } from "../routes/tokenizer-route.ts";
import type { AnswerDetails } from "../service.ts";
import { rerankRoute } from "../tasks/rerank.ts";
import { formatTokenVectors } from "../tasks/token-vectors.ts";

/** Fields about cutting. Inputs that are too long are cut unless a request forbids it, as text-embeddings-inference does by default. */
const Cutting = objectOf({
  truncate: TruncateFlag,
  truncation_direction: TruncationDirection,
});

/** Returns where inputs are cut. Default: where the model's own tokenizer cuts them. */
const truncationOf = ({ truncate = true, truncation_direction }: v.InferOutput<typeof Cutting>): Truncation =>
  truncate && (truncation_direction ?? truncate);

const optionsOf = <Fields extends v.InferOutput<typeof Cutting>>(fields: Fields) => ({
  ...camelCase(fields),
  truncate: truncationOf(fields),
});

const Vectors = v.array(v.array(v.number()));

const embed = taskAt("/embed", {
  task: "embed",
  schema: bodyOf({
    inputs: EmbedInputs,
    ...Cutting.entries,
    prompt_name: PromptName,
    normalize: v.optional(v.boolean(), true),
    dimensions: v.optional(PositiveInteger),
  }),
  summary: "Vectors of texts, for clients of text-embeddings-inference",
  example: { inputs: ["to be"] },
  response: Vectors,
  call: ({ inputs, ...options }) => embedCall(inputs, optionsOf(options)),
  respond: (answer, { inputs }, c) =>
    listResponse(describeWork(c, answer, inputs.map(String)), answer.result, (vector) => formatVector(vector, "float")),
});

const TokensRequest = bodyOf({ inputs: Texts, ...Cutting.entries, prompt_name: PromptName });

const embedAll = taskAt("/embed_all", {
  task: "token-vectors",
  schema: TokensRequest,
  summary: "A vector for each token of texts, for clients of text-embeddings-inference",
  example: { inputs: ["to be"] },
  response: v.array(Vectors),
  call: ({ inputs, ...options }) => tokenVectorsCall(inputs, optionsOf(options)),
  respond: (answer, { inputs }, c) => listResponse(describeWork(c, answer, inputs), answer.result, formatTokenVectors),
});

const embedSparse = taskAt("/embed_sparse", {
  task: "sparse",
  schema: TokensRequest,
  summary: "Sparse vectors of texts, for clients of text-embeddings-inference",
  example: { inputs: ["to be"] },
  response: v.array(v.array(v.object({ index: v.number(), value: v.number() }))),
  call: ({ inputs, ...options }) => sparseCall(inputs, optionsOf(options)),
  respond: (answer, { inputs }, c) =>
    listResponse(describeWork(c, answer, inputs), answer.result, ({ indices, values }) =>
      JSON.stringify(indices.map((index, i) => ({ index, value: values[i] }))),
    ),
});

const Pair = v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(2, "must have one or two strings"));
const Labels = v.array(ScoredLabel);

const predict = taskAt("/predict", {
  task: "classify",
  spelled: (field, value) => [
    field,
    field === "inputs" && typeof value === "object" ? Object.values(value ?? {}) : value,
  ],
  schema: bodyOf({
    inputs: v.pipe(
      v.union(
        [v.string(), Pair, v.array(Pair)],
        "must be a string, a list of one or two strings, or a list of such lists",
      ),
      v.transform((given) => {
        // A list of two strings is one pair.
        const isBatch = typeof given === "object" && typeof given[0] === "object";
        const pairs = (isBatch ? given : [[given].flat()]) as string[][];
        const inputs = pairs.map(([first = "", second]): TextInput => (second === undefined ? first : [first, second]));
        return { isBatch, inputs };
      }),
    ),
    raw_scores: v.optional(v.boolean(), false),
    ...Cutting.entries,
  }),
  summary: "Labels of texts, or of pairs of texts, for clients of text-embeddings-inference",
  example: { inputs: "to be" },
  response: v.union([Labels, v.array(Labels)]),
  call: ({ inputs: { inputs }, raw_scores, ...cut }) =>
    classifyCall(inputs, { ...optionsOf(cut), functionToApply: raw_scores ? "none" : undefined }),
  respond: ({ result, ...details }, { inputs: { isBatch, inputs } }, c) =>
    describeWork(c, details, inputs.flatMap(textsOf)).json(isBatch ? result : result[0]),
});

const TextsToRank = bodyOf({
  query: v.string(),
  texts: v.array(v.string()),
  raw_scores: v.optional(v.boolean(), false),
  return_text: v.optional(v.boolean(), false),
  /** LiteLLM's clients send this field. */
  top_n: v.optional(PositiveInteger),
  ...Cutting.entries,
});

/** Jina's clients use this path too. Their bodies have `documents`, and get the answer of `/v1/rerank`. */
const RankRequest: v.GenericSchema<unknown, v.InferOutput<typeof TextsToRank | typeof rerankRoute.schema>> = {
  ...TextsToRank,
  "~run": (dataset, config) =>
    ("documents" in Object(dataset.value) ? rerankRoute.schema : TextsToRank)["~run"](dataset, config),
};

/** As in text-embeddings-inference, a model's own activation has no effect: scores are sigmoids, or logits with `raw_scores`. */
const rerank = taskAt("/rerank", {
  schema: RankRequest,
  summary:
    "Texts, ranked by how well they fit a query, for clients of text-embeddings-inference (or `documents`: Jina’s)",
  example: { query: "Where does Anna work?", texts: ["Anna works in New York.", "to be"] },
  response: v.union([
    v.array(v.object({ index: v.number(), score: v.number(), text: v.exactOptional(v.string()) })),
    rerankRoute.response,
  ]),
  call(body) {
    if ("documents" in body) return rerankRoute.call(body);
    const { query, texts, raw_scores, ...options } = body;
    return rerankCall(query, texts, { ...optionsOf(options), activation: raw_scores ? "none" : "sigmoid" });
  },
  respond(answer, body, c) {
    if ("documents" in body) return rerankRoute.respond(answer, body, c);
    const { query, texts, return_text } = body;
    return describeWork(c, answer, [query, ...texts]).json(
      answer.result.map(({ index, score }) => ({ index, score, ...(return_text && { text: texts[index] }) })),
    );
  },
});

/** text-embeddings-inference compares the vectors of all models by their cosine. */
const similarity = taskAt("/similarity", {
  schema: bodyOf({
    inputs: objectOf({ source_sentence: v.string(), sentences: v.array(v.string()) }),
    parameters: v.optional(objectOf({ ...Cutting.entries, prompt_name: PromptName })),
    ...Cutting.entries,
  }),
  summary: "Scores of sentences, compared with one, for clients of text-embeddings-inference",
  example: { inputs: { source_sentence: "to be", sentences: ["not to be"] } },
  response: v.array(v.number()),
  call: ({ inputs: { source_sentence, sentences }, parameters, ...beside }) =>
    similarityCall(source_sentence, sentences, {
      truncate: truncationOf({ ...beside, ...parameters }),
      similarity: "cosine",
      promptName: parameters?.prompt_name,
    }),
  respond: (answer, { inputs: { source_sentence, sentences } }, c) =>
    describeWork(c, answer, [source_sentence, ...sentences]).json(answer.result),
});

/** Execution providers of GPUs. */
const onGpu = new Set(["cuda", "tensorrt", "webgpu"]);

/** Sets the headers that describe the work, in whole ms. If the region answers, the whole time until its answer counts as inference. */
function describeWork(c: Context, { timings, provider, tokens }: AnswerDetails, texts: readonly string[]): Context {
  const inferenceMs = timings["compute"] ?? timings["region"] ?? 0;
  const queueMs = timings["queue"] ?? 0;
  const headers = {
    "x-compute-time": Math.round(inferenceMs),
    "x-compute-characters": totalLength(texts),
    "x-compute-tokens": tokens,
    "x-total-time": Math.round(queueMs + inferenceMs),
    "x-tokenization-time": 0,
    "x-queue-time": Math.round(queueMs),
    "x-inference-time": Math.round(inferenceMs),
  };
  c.header("x-compute-type", onGpu.has(provider) ? "gpu" : "cpu");
  for (const [name, value] of Object.entries(headers)) c.header(name, `${value}`);
  return c;
}

const Token = v.object({
  id: v.number(),
  /** The token's part of the text, or its spelling if `start` is null. */
  text: v.string(),
  special: v.boolean(),
  /** Number of code points before the token, and up to its end; null for special tokens, and if the tokenizer has no offsets. */
  start: v.nullable(v.number()),
  stop: v.nullable(v.number()),
});

/** Texts are not cut. */
const tokenize = tokenizerAt("/tokenize", {
  schema: objectOf({
    inputs: Texts,
    model: ModelField,
    add_special_tokens: v.optional(v.boolean(), true),
    prompt_name: PromptName,
  }),
  summary: "Tokens of texts, for clients of text-embeddings-inference",
  example: { inputs: "to be" },
  response: v.array(v.array(Token)),
  items: ({ inputs }) => inputs,
  answer: ({ tokenizer, manifest }, text, { add_special_tokens, prompt_name }) =>
    tokensOf(tokenizer, prompt_name ? promptOf(manifest, prompt_name) + text : text).filter(
      ({ special }) => add_special_tokens || !special,
    ),
});

function tokensOf(tokenizer: Tokenizer, text: string): v.InferOutput<typeof Token>[] {
  const { ids, offsets } = placedOrNot(tokenizer, text);
  const { vocabulary, around } = tokenizer;
  const position = codePointsBefore(text);
  return Array.from(ids, (id, i) => {
    const special = i < around.before || i >= ids.length - around.after;
    if (special || !offsets) {
      return { id, text: vocabulary.spellingOf(id) ?? "", special, start: null, stop: null };
    }
    const [start, stop] = [offsets[2 * i] as number, offsets[2 * i + 1] as number];
    return { id, text: text.slice(start, stop), special, start: position(start), stop: position(stop) };
  });
}

/** Encodes a text. Tokenizers without a packed form do not know the offsets of tokens. */
function placedOrNot(tokenizer: Tokenizer, text: string) {
  try {
    return tokenizer.encodePlaced(text, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof BertEdgeError && error.code === "offsets_unsupported")) throw error;
    const { ids } = tokenizer.encode(text, Number.POSITIVE_INFINITY);
    return { ids, offsets: undefined };
  }
}

/** Ids that are not in the vocabulary are left out. */
const decode = tokenizerAt("/decode", {
  schema: objectOf({ ids: TokenIdLists, model: ModelField, skip_special_tokens: v.optional(v.boolean(), true) }),
  summary: "Texts of token ids, for clients of text-embeddings-inference",
  example: { ids: [[101, 102]] },
  response: v.array(v.string()),
  items: ({ ids }) => ids,
  answer: ({ tokenizer }, ids, { skip_special_tokens }) =>
    tokenizer.vocabulary.decode(ids, { skipSpecial: skip_special_tokens }),
});

const ErrorBody = v.object({
  error: v.string(),
  error_type: v.picklist(["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"]),
});
type Kind = readonly [status: ContentfulStatusCode, type: v.InferOutput<typeof ErrorBody>["error_type"]];

/** Status and type of the errors that text-embeddings-inference tells apart. */
const kinds: Partial<Record<HttpErrorCode, Kind>> = {
  overloaded: [429, "Overloaded"],
  input_empty: [400, "Empty"],
  internal: [424, "Backend"],
  input_too_long: [422, "Tokenizer"],
};

/** text-embeddings-inference: https://huggingface.github.io/text-embeddings-inference */
export const tei: Dialect = {
  id: "tei",
  name: "text-embeddings-inference",
  routes: [embed, embedAll, embedSparse, predict, rerank, similarity, decode, tokenize],
  errorBody: ErrorBody,
  writeError(error) {
    const known = errorStatus[error.code];
    const other: Kind = [known === 400 ? 422 : known, known < 500 ? "Validation" : "Unhealthy"];
    const [status, error_type] = kinds[error.code] ?? other;
    return { status, body: { error: inOneSentence(error), error_type } };
  },
};
