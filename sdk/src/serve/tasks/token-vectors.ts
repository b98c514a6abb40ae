import * as v from "valibot";
import { searchRoles } from "../../runtime/tasks/late-interaction.ts";
import { type TokenVectors, tokenVectorsCall } from "../../runtime/tasks/token-vectors.ts";
import { bodyOf, EncodingFormat, ownAnswer, PromptName, Texts, Truncate } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { formatVector } from "../contract/vector-text.ts";
import { listResponse } from "../routes/in-parts.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

export const tokenVectorsRoute = taskAt("/v1/token-vectors", {
  task: "token-vectors",
  schema: bodyOf({
    inputs: Texts,
    truncate: Truncate,
    prompt_name: PromptName,
    /** Role of the inputs in a search, for models of PyLate and Stanford's ColBERT. Default: `document`. */
    side: v.optional(v.picklist(searchRoles)),
    /** `base64` encodes the little-endian float32 bytes of each input's vectors, one after the other. */
    encoding_format: v.optional(EncodingFormat, "float"),
  }),
  summary: "A vector for each token of texts (ColBERT)",
  example: { inputs: "to be" },
  response: ownAnswer({
    /** A vector per token of each input, without tokens that the model skips in documents; strings if `encoding_format` is `base64`. */
    embeddings: v.union([v.array(v.array(v.array(v.number()))), v.array(v.string())]),
    /** Size of each vector. */
    dimensions: v.number(),
  }),
  call: ({ inputs, ...options }) => tokenVectorsCall(inputs, camelCase(options)),
  respond: (answer, { encoding_format }, c) =>
    listResponse(
      c,
      answer.result,
      (tokens) => (encoding_format === "base64" ? formatVector(tokens.vectors, "base64") : formatTokenVectors(tokens)),
      { ...answerFields(answer), dimensions: answer.result[0]?.dimensions ?? 0, embeddings: [] },
    ),
});

/** The body of `POST /v1/token-vectors`. */
export type TokenVectorsRequest = v.InferInput<typeof tokenVectorsRoute.schema>;
export type TokenVectorsResponse = v.InferOutput<typeof tokenVectorsRoute.response>;

/** Formats the vectors of a text's tokens as JSON: a list of lists of numbers. */
export function formatTokenVectors({ vectors, dimensions }: TokenVectors): string {
  const tokens = Array.from({ length: vectors.length / dimensions }, (_, token) =>
    formatVector(vectors.subarray(token * dimensions, (token + 1) * dimensions), "float"),
  );
  return `[${tokens}]`;
}
