import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { vectorFormats } from "../../runtime/tasks/vector-formats.ts";
import { Code, errorStatus } from "../contract/errors.ts";
import {
  EmbedInputs,
  EncodingFormat,
  LatencyBudget,
  objectOf,
  onlyAs,
  PositiveInteger,
  PromptName,
} from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
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
/** The same by Jina's names. */
const tasks = { "retrieval.query": "query", "retrieval.passage": "document" } as const;

const embeddings = taskAt("/v1/embeddings", {
  schema: objectOf({
    input: EmbedInputs,
    model: v.string(),
    encoding_format: v.optional(EncodingFormat, "float"),
    dimensions: v.optional(PositiveInteger),
    latency_budget_ms: LatencyBudget,
    user: v.optional(v.string()),
    prompt_name: PromptName,
    /** Voyage's and Cohere's name for the role of the texts in a search. */
    input_type: v.optional(v.picklist(Object.keys(inputTypes) as (keyof typeof inputTypes)[])),
    task: v.optional(v.picklist(Object.keys(tasks) as (keyof typeof tasks)[])),
    normalized: v.optional(v.boolean()),
    embedding_type: v.optional(v.picklist(["float", "base64", "binary", "ubinary"])),
    late_chunking: onlyAs([false]),
    return_multivector: onlyAs([false]),
    output_dimension: onlyAs([], "Send `dimensions`."),
    output_dtype: onlyAs(["float"], "Send `embedding_type`."),
  }),
  summary: "Vectors of texts, for OpenAI’s clients",
  example: { model: "bert-edge-mini", input: ["to be"] },
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
  hint: 'Send {"model": "<name>", "input": ["to be"]}.',
  call: ({ input, dimensions, prompt_name, input_type, task, normalized }) =>
    embedCall(input, {
      dimensions,
      prompt: prompt_name,
      search: input_type ? inputTypes[input_type] : task && tasks[task],
      normalize: normalized,
    }),
  respond({ model, result, tokens }, { encoding_format, embedding_type = encoding_format }, c) {
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

/** A request has no `truncate`. */
const TOO_LONG = "Shorten the text, or send it to /v1/embed with `truncate` set to true to embed only its beginning.";

/** OpenAI: https://platform.openai.com/docs/api-reference/embeddings */
export const openAi: Dialect = {
  id: "openai",
  name: "OpenAI",
  routes: [embeddings, { ...embeddings, path: "/embeddings" }],
  errorBody: v.object({
    error: v.object({ code: Code, message: v.string(), type: v.string(), param: v.null() }),
  }),
  writeError({ code, message, hint }) {
    const type = errorStatus[code] < 500 ? "invalid_request_error" : "server_error";
    const error = {
      code,
      message: inOneSentence({ message, hint: code === "input_too_long" ? TOO_LONG : hint }),
      type,
      param: null,
    };
    return { body: { error } };
  },
};

const user = "it names a user to OpenAI, and has no effect on vectors";

/** Fields of OpenAI's clients without effect. */
export const openAiWithoutEffect: FieldsWithoutEffect = { "/v1/embeddings": { user }, "/embeddings": { user } };
