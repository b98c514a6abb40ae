import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { errorStatus, type HttpErrorCode, OpenAiErrorBody } from "../contract/errors.ts";
import { didYouMean, EmbedInputs, EncodingFormat, embedInputsIn, LatencyBudget } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { type Dialect, inOneSentence, taskAt } from "../routes/dialect.ts";
import { listResponse } from "../routes/list-response.ts";
import type { TaskRoute } from "../routes/task-route.ts";

const openAiEntries = {
  input: EmbedInputs,
  model: v.string(),
  encoding_format: v.optional(EncodingFormat, "float"),
  dimensions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  latency_budget_ms: LatencyBudget,
  user: v.optional(v.string()),
};

/** The body of OpenAI's `POST /v1/embeddings`. */
export const OpenAiEmbeddingsRequest = v.object(openAiEntries, didYouMean(openAiEntries));

export const OpenAiEmbeddingsResponse = v.object({
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

/** OpenAI's `POST /v1/embeddings`: https://platform.openai.com/docs/api-reference/embeddings */
export const openAiEmbeddingsRoute: TaskRoute<typeof OpenAiEmbeddingsRequest, Float32Array<ArrayBuffer>[]> = {
  schema: OpenAiEmbeddingsRequest,
  about: {
    summary: "Vectors of texts, for OpenAI’s clients",
    example: { model: "bert-edge-mini", input: ["to be"] },
    response: OpenAiEmbeddingsResponse,
  },
  call: ({ input, dimensions }) => embedCall(embedInputsIn(input), { dimensions }),
  respond(c, { model, result, tokens }, { encoding_format }) {
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    const response: OpenAiEmbeddingsResponse = { object: "list", data: [], model, usage };
    const item = (index: number) => {
      const embedding = formatVector(result[index] as Float32Array<ArrayBuffer>, encoding_format);
      return `{"object":"embedding","index":${index},"embedding":${embedding}}`;
    };
    return listResponse(c, { frame: { body: response, list: "data" }, count: result.length, item });
  },
};

/** Hints that differ, because requests have no `truncate`. */
const hints: Partial<Record<HttpErrorCode, string>> = {
  input_too_long: "Shorten the text, or send it to /v1/embed with `truncate` set to true to embed only its beginning.",
};

/** OpenAI: https://platform.openai.com/docs/api-reference */
export const openAi: Dialect = {
  id: "openai",
  name: "OpenAI",
  routes: [taskAt("/v1/embeddings", openAiEmbeddingsRoute), taskAt("/embeddings", openAiEmbeddingsRoute)],
  errorBody: OpenAiErrorBody,
  writeError({ code, message, hint }) {
    const type = errorStatus[code] < 500 ? "invalid_request_error" : "server_error";
    const error = { code, message: inOneSentence({ message, hint: hints[code] ?? hint }), type, param: null };
    return { body: { error } satisfies OpenAiErrorBody };
  },
};
