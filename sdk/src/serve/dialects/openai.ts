import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { similarityCall } from "../../runtime/tasks/rerank.ts";
import { vectorFormats } from "../../runtime/tasks/vector-formats.ts";
import { Code, errorStatus } from "../contract/errors.ts";
import {
  bodyOf,
  EmbedInputs,
  EncodingFormat,
  FewTokens,
  inputMessage,
  objectOf,
  onlyAs,
  PositiveInteger,
  PromptName,
  Texts,
  truncations,
} from "../contract/fields.ts";
import { formatVector } from "../contract/vector-text.ts";
import { type Dialect, type FieldsWithoutEffect, inOneSentence } from "../routes/dialect.ts";
import { listResponse } from "../routes/in-parts.ts";
import { taskAt } from "../routes/task-route.ts";

/** Roles of texts in a search, by the names of Voyage and Cohere. */
const inputTypes = {
  query: "query",
  search_query: "query",
  document: "document",
  passage: "document",
  search_document: "document",
} as const;
/** Roles of texts in a search, by Jina's names. */
const tasks = { "retrieval.query": "query", "retrieval.passage": "document" } as const;

/** Whether and where long texts are cut, in the words of bert-edge or NVIDIA. */
const Truncate = v.pipe(
  v.optional(
    v.union(
      [v.boolean(), v.picklist(["left", "right", "NONE", "START", "END"])],
      "must be a boolean, left, right, NONE, START or END",
    ),
  ),
  v.transform((cut) => (typeof cut === "string" ? sides[cut] : cut)),
);
const sides = { left: "left", right: "right", ...truncations } as const;

/** Jina's clients write a text as an object too. */
const TextObject = v.pipe(
  objectOf({ text: v.string(), image: onlyAs([]) }),
  v.transform(({ text }) => text),
);
const Input = v.union(
  [
    EmbedInputs,
    v.pipe(
      v.union([TextObject, v.array(v.union([v.string(), TextObject]))]),
      v.transform((texts) => [texts].flat()),
    ),
  ],
  inputMessage(
    "a string, token ids, an object with only `text`, or a list of one of these",
    "a string",
    "a number",
    "a list",
    "an object",
  ),
);
const VectorType = v.optional(v.picklist(["float", "base64", "binary", "ubinary"]));

const embeddings = taskAt("/v1/embeddings", {
  schema: v.pipe(
    bodyOf({
      input: Input,
      encoding_format: v.optional(EncodingFormat, "float"),
      dimensions: v.optional(PositiveInteger),
      // OpenAI's clients send these fields in `extra_body`.
      truncate: Truncate,
      /** Voyage's name for `truncate`. */
      truncation: v.optional(v.boolean()),
      /** vLLM's maximum number of tokens, to which texts are cut; -1 is the maximum of the model. */
      truncate_prompt_tokens: v.optional(v.union([v.literal(-1), FewTokens], "must be -1, or at least 3")),
      truncation_side: v.optional(v.picklist(["left", "right"])),
      pool_chunks: v.optional(v.boolean()),
      prompt_name: PromptName,
      /** Voyage's and Cohere's name for the role of the texts in a search. */
      input_type: v.optional(v.picklist(Object.keys(inputTypes) as (keyof typeof inputTypes)[])),
      task: v.optional(v.picklist(Object.keys(tasks) as (keyof typeof tasks)[])),
      normalized: v.optional(v.boolean()),
      embedding_type: VectorType,
      /** Jina's older name for `embedding_type`. */
      encoding_type: VectorType,
      late_chunking: onlyAs([false]),
      return_multivector: onlyAs([false]),
      output_dimension: onlyAs([], "Send `dimensions`."),
      output_dtype: onlyAs(["float"], "Send `embedding_type`."),
    }),
    v.transform(({ truncate, truncation, truncate_prompt_tokens: most, ...body }) => ({
      ...body,
      truncate: truncate ?? truncation ?? (most === undefined ? undefined : true),
      maxTokens: most === -1 ? undefined : most,
    })),
  ),
  summary: "Vectors of texts, for OpenAI’s clients",
  example: { input: ["to be"] },
  response: v.object({
    object: v.literal("list"),
    data: v.array(
      v.object({
        object: v.literal("embedding"),
        index: v.number(),
        embedding: v.union([v.array(v.number()), v.string()]),
      }),
    ),
    model: v.string(),
    usage: v.object({ prompt_tokens: v.number(), total_tokens: v.number() }),
  }),
  task: "embed",
  spelled: (field, value) => [{ inputs: "input", normalize: "normalized" }[field] ?? field, value],
  namesModel: true,
  call({ input, dimensions, prompt_name, input_type, task, normalized, ...reading }) {
    const { truncate, truncation_side: side, maxTokens, pool_chunks: poolChunks } = reading;
    return embedCall(input, {
      dimensions,
      promptName: prompt_name,
      search: input_type ? inputTypes[input_type] : task && tasks[task],
      normalize: normalized,
      truncate: truncate && (side ?? truncate),
      maxTokens,
      poolChunks,
    });
  },
  respond(
    { model, result, tokens },
    { encoding_format, encoding_type = encoding_format, embedding_type = encoding_type },
    c,
  ) {
    const [type, format] =
      embedding_type === "base64" ? (["float", "base64"] as const) : ([embedding_type, "float"] as const);
    return listResponse(
      c,
      result,
      (vector, index) =>
        `{"object":"embedding","index":${index},"embedding":${formatVector(vectorFormats[type](vector), format)}}`,
      { object: "list", data: [], model, usage: { prompt_tokens: tokens, total_tokens: tokens } },
    );
  },
});

/** vLLM's route that compares a text with others: https://docs.vllm.ai/en/latest/models/pooling_models/scoring */
const score = taskAt("/v1/score", {
  schema: bodyOf({
    text_1: v.string("must be one string; send a request for each"),
    text_2: Texts,
    use_activation: v.optional(v.boolean()),
    truncate_prompt_tokens: v.optional(v.literal(-1, "must be -1, the length of the model")),
  }),
  summary: "Scores of texts, compared with one, for vLLM’s clients",
  spelled: (field, value) => (field === "truncate" ? ["truncate_prompt_tokens", -1] : [field, value]),
  example: { text_1: "to be", text_2: ["not to be", "Anna"] },
  response: v.object({
    object: v.literal("list"),
    data: v.array(v.object({ object: v.literal("score"), index: v.number(), score: v.number() })),
    model: v.string(),
    usage: v.object({ prompt_tokens: v.number(), total_tokens: v.number() }),
  }),
  call: ({ text_1, text_2, use_activation, truncate_prompt_tokens }) =>
    similarityCall(text_1, text_2, {
      truncate: truncate_prompt_tokens !== undefined,
      activation: use_activation === false ? "none" : undefined,
    }),
  respond: ({ model, result, tokens }) => ({
    object: "list" as const,
    data: result.map((score, index) => ({ object: "score" as const, index, score })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }),
});

/** OpenAI: https://platform.openai.com/docs/api-reference/embeddings */
export const openAi: Dialect = {
  id: "openai",
  name: "OpenAI",
  routes: [embeddings, { ...embeddings, path: "/embeddings" }, score, { ...score, path: "/score" }],
  // OpenAI's clients also ask for models and for routes that do not exist here. Errors of these paths have OpenAI's form too.
  below: "/v1/",
  errorBody: v.object({
    error: v.object({ code: Code, message: v.string(), type: v.string(), param: v.nullable(v.string()) }),
    /** Jina's clients show this text. */
    detail: v.string(),
  }),
  writeError(error) {
    const { code } = error;
    const type = errorStatus[code] < 500 ? "invalid_request_error" : "server_error";
    const withKey = " Or give the API key the option `truncate`.";
    const message = inOneSentence(error) + (code === "input_too_long" ? withKey : "");
    return { body: { error: { code, message, type, param: null }, detail: message } };
  },
};

const user = "it names a user to OpenAI, and has no effect on vectors";

/** Fields of OpenAI's clients without effect. */
export const openAiWithoutEffect: FieldsWithoutEffect = { "/v1/embeddings": { user }, "/embeddings": { user } };
