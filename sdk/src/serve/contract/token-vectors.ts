import * as v from "valibot";
import { searchRoles } from "../../runtime/tasks/late-interaction.ts";
import { EncodingFormat, ownAnswer, ownBody, PromptName, Texts, Truncate } from "./fields.ts";

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
