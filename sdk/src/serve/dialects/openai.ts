import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { Code, errorStatus } from "../contract/errors.ts";
import { EmbedInputs, EncodingFormat, LatencyBudget, objectOf, PositiveInteger } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { type Dialect, type FieldsWithoutEffect, inOneSentence } from "../routes/dialect.ts";
import { listResponse } from "../routes/in-parts.ts";
import { taskAt } from "../routes/task-route.ts";

const embeddings = taskAt("/v1/embeddings", {
  schema: objectOf({
    input: EmbedInputs,
    model: v.optional(v.string()),
    encoding_format: v.optional(EncodingFormat, "float"),
    dimensions: v.optional(PositiveInteger),
    latency_budget_ms: LatencyBudget,
    user: v.optional(v.string()),
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
  hint: 'Send {"input": ["to be"]}.',
  namesModel: true,
  call: ({ input, dimensions }) => embedCall(input, { dimensions }),
  respond: ({ model, result, tokens }, { encoding_format }, c) =>
    listResponse(
      c,
      result,
      (vector, index) => `{"object":"embedding","index":${index},"embedding":${formatVector(vector, encoding_format)}}`,
      { object: "list", data: [], model, usage: { prompt_tokens: tokens, total_tokens: tokens } },
    ),
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
