import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { Code, errorStatus } from "../contract/errors.ts";
import { EmbedInputs, EncodingFormat, LatencyBudget, objectOf, orNull, PositiveInteger } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { type Dialect, type FieldsWithoutEffect, inOneSentence } from "../routes/dialect.ts";
import { listResponse } from "../routes/in-parts.ts";
import { taskAt } from "../routes/task-route.ts";

/** What other servers of this interface take for long texts: our own `truncate`, or NVIDIA's. */
const Truncate = v.pipe(
  orNull(
    v.union(
      [v.boolean(), v.picklist(["left", "right", "NONE", "START", "END"])],
      "must be a boolean, left, right, NONE, START or END",
    ),
  ),
  v.transform((cut) => (typeof cut === "string" ? sides[cut] : cut)),
);
const sides = { left: "left", right: "right", NONE: false, START: "left", END: "right" } as const;

const embeddings = taskAt("/v1/embeddings", {
  schema: v.pipe(
    objectOf({
      input: EmbedInputs,
      model: orNull(v.string()),
      encoding_format: v.optional(EncodingFormat, "float"),
      dimensions: v.optional(PositiveInteger),
      latency_budget_ms: LatencyBudget,
      user: v.optional(v.string()),
      // OpenAI's clients send these fields in `extra_body`.
      truncate: Truncate,
      /** vLLM: texts are cut to this number of tokens, or with -1 to what the model reads. */
      truncate_prompt_tokens: orNull(
        v.union([v.literal(-1), v.pipe(v.number(), v.integer(), v.minValue(3))], "must be -1, or at least 3"),
      ),
      truncation_side: orNull(v.picklist(["left", "right"])),
      pool_chunks: orNull(v.boolean()),
    }),
    v.transform(({ truncate, truncate_prompt_tokens: most, ...body }) => ({
      ...body,
      truncate: truncate ?? (most === undefined ? undefined : true),
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
  spelled: (field, value) => [field === "inputs" ? "input" : field, value],
  namesModel: true,
  call: ({ input, dimensions, truncate, truncation_side: side, maxTokens, pool_chunks: poolChunks }) =>
    embedCall(input, { dimensions, truncate: truncate && (side ?? truncate), maxTokens, poolChunks }),
  respond: ({ model, result, tokens }, { encoding_format }, c) =>
    listResponse(
      c,
      result,
      (vector, index) => `{"object":"embedding","index":${index},"embedding":${formatVector(vector, encoding_format)}}`,
      { object: "list", data: [], model, usage: { prompt_tokens: tokens, total_tokens: tokens } },
    ),
});

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
      message: inOneSentence({ message, hint }),
      type,
      param: null,
    };
    return { body: { error } };
  },
};

const user = "it names a user to OpenAI, and has no effect on vectors";

/** Fields of OpenAI's clients without effect. */
export const openAiWithoutEffect: FieldsWithoutEffect = { "/v1/embeddings": { user }, "/embeddings": { user } };
