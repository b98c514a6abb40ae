import * as v from "valibot";
import { EncodingFormat, ownAnswer, ownBody, PromptName, Texts, Truncate } from "./fields.ts";

/** The body of `POST /v1/token-vectors`. */
export const TokenVectorsRequest = ownBody({
  inputs: Texts,
  truncate: Truncate,
  prompt_name: PromptName,
  /** `base64` encodes the little-endian float32 bytes of each input's vectors, one after the other. */
  encoding_format: v.optional(EncodingFormat, "float"),
});
export type TokenVectorsRequest = v.InferInput<typeof TokenVectorsRequest>;

export const TokenVectorsResponse = ownAnswer({
  /** One vector per token of each input; base64 strings when `encoding_format` is `base64`. */
  embeddings: v.union([v.array(v.array(v.array(v.number()))), v.array(v.string())]),
  /** Size of each vector. */
  dimensions: v.number(),
});
export type TokenVectorsResponse = v.InferOutput<typeof TokenVectorsResponse>;
