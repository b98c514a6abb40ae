import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { Code, errorStatus, type HttpErrorCode } from "../contract/errors.ts";
import { didYouMean, EmbedInputs, EncodingFormat, LatencyBudget, PositiveInteger } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { type Dialect, type FieldsWithoutEffect, inOneSentence, taskAt } from "../routes/dialect.ts";
import { listResponse } from "../routes/list-response.ts";

const fields = {
  input: EmbedInputs,
  model: v.string(),
  encoding_format: v.optional(EncodingFormat, "float"),
  dimensions: v.optional(PositiveInteger),
  latency_budget_ms: LatencyBudget,
  user: v.optional(v.string()),
};

/** The body of OpenAI's `POST /v1/embeddings`. */
export const OpenAiEmbeddingsRequest = v.object(fields, didYouMean(fields));

const OpenAiEmbeddingsResponse = v.object({
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
});
export type OpenAiEmbeddingsResponse = v.InferOutput<typeof OpenAiEmbeddingsResponse>;

const embeddingsAt = (path: string) =>
  taskAt(path, {
    schema: OpenAiEmbeddingsRequest,
    summary: "Vectors of texts, for OpenAI’s clients",
    example: { model: "bert-edge-mini", input: ["to be"] },
    response: OpenAiEmbeddingsResponse,
    hint: 'Send {"model": "<name>", "input": ["to be"]}.',
    call: ({ input, dimensions }) => embedCall(input, { dimensions }),
    respond: (c, { model, result, tokens }, { encoding_format }) =>
      listResponse(
        c,
        result,
        (vector, index) =>
          `{"object":"embedding","index":${index},"embedding":${formatVector(vector, encoding_format)}}`,
        {
          object: "list",
          data: [],
          model,
          usage: { prompt_tokens: tokens, total_tokens: tokens },
        } satisfies OpenAiEmbeddingsResponse,
      ),
  });

/** Hints that differ, because requests have no `truncate`. */
const hints: Partial<Record<HttpErrorCode, string>> = {
  input_too_long: "Shorten the text, or send it to /v1/embed with `truncate` set to true to embed only its beginning.",
};

const OpenAiErrorBody = v.object({
  error: v.object({ code: Code, message: v.string(), type: v.string(), param: v.null() }),
});
export type OpenAiErrorBody = v.InferOutput<typeof OpenAiErrorBody>;

/** OpenAI: https://platform.openai.com/docs/api-reference/embeddings */
export const openAi: Dialect = {
  id: "openai",
  name: "OpenAI",
  routes: [embeddingsAt("/v1/embeddings"), embeddingsAt("/embeddings")],
  errorBody: OpenAiErrorBody,
  writeError({ code, message, hint }) {
    const type = errorStatus[code] < 500 ? "invalid_request_error" : "server_error";
    const error = { code, message: inOneSentence({ message, hint: hints[code] ?? hint }), type, param: null };
    return { body: { error } satisfies OpenAiErrorBody };
  },
};

const user = "it names a user to OpenAI, and has no effect on vectors";

/** Fields of OpenAI's clients without effect. */
export const openAiWithoutEffect: FieldsWithoutEffect = { "/v1/embeddings": { user }, "/embeddings": { user } };
