import * as v from "valibot";
import { searchRoles } from "../../runtime/tasks/late-interaction.ts";
import { type TokenVectors, tokenVectorsCall } from "../../runtime/tasks/token-vectors.ts";
import { EncodingFormat, ownAnswer, ownBody, PromptName, Texts, Truncate, textsIn } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { listResponse } from "../routes/list-response.ts";
import { answerFields, type TaskRoute } from "../routes/task-route.ts";

/** The body of `POST /v1/token-vectors`. */
export const TokenVectorsRequest = ownBody({
  inputs: Texts,
  truncate: Truncate,
  prompt_name: PromptName,
  /**
   * Role of the inputs in a search. Models of PyLate and of Stanford's ColBERT read queries and documents differently; other models
   * have no sides. Default: `document`.
   */
  side: v.optional(v.picklist(searchRoles)),
  /** `base64` encodes the little-endian float32 bytes of each input's vectors, one after the other. */
  encoding_format: v.optional(EncodingFormat, "float"),
});
export type TokenVectorsRequest = v.InferInput<typeof TokenVectorsRequest>;

export const TokenVectorsResponse = ownAnswer({
  /**
   * One vector per token of each input, without the tokens that documents skip; base64 strings when `encoding_format` is
   * `base64`.
   */
  embeddings: v.union([v.array(v.array(v.array(v.number()))), v.array(v.string())]),
  /** Size of each vector. */
  dimensions: v.number(),
});
export type TokenVectorsResponse = v.InferOutput<typeof TokenVectorsResponse>;

/** `POST /v1/token-vectors` */
export const tokenVectorsRoute: TaskRoute<typeof TokenVectorsRequest, TokenVectors[]> = {
  schema: TokenVectorsRequest,
  about: {
    summary: "A vector for each token of texts (ColBERT)",
    example: { inputs: "to be" },
    response: TokenVectorsResponse,
  },
  call: ({ inputs, truncate, prompt_name, side }) =>
    tokenVectorsCall(textsIn(inputs), { truncate, prompt: prompt_name, side }),
  respond(c, answer, { encoding_format }) {
    const { result } = answer;
    const dimensions = result[0]?.dimensions ?? 0;
    const response: TokenVectorsResponse = { ...answerFields(answer), dimensions, embeddings: [] };
    const item = (index: number) => {
      const tokens = result[index] as TokenVectors;
      return encoding_format === "base64" ? formatVector(tokens.vectors, encoding_format) : formatTokenVectors(tokens);
    };
    return listResponse(c, { frame: { body: response, list: "embeddings" }, count: result.length, item });
  },
};

/** Formats the vectors of a text's tokens as JSON: a list of lists of numbers. */
export function formatTokenVectors({ vectors, dimensions }: TokenVectors): string {
  const tokens = Array.from({ length: vectors.length / dimensions }, (_, token) =>
    formatVector(vectors.subarray(token * dimensions, (token + 1) * dimensions), "float"),
  );
  return `[${tokens}]`;
}
