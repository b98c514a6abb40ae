import * as v from "valibot";
import {
  didYouMean,
  EmbedInputs,
  EncodingFormat,
  LatencyBudget,
  ownAnswer,
  ownBody,
  PositiveInteger,
  PromptName,
  Truncate,
} from "./fields.ts";

/** Number format of vectors: see `output_type`. */
export const OutputType = v.picklist(["float", "int8", "uint8", "binary", "ubinary"]);
export type OutputType = v.InferOutput<typeof OutputType>;

/** The body of `POST /v1/embed`. */
export const EmbedRequest = ownBody({
  /** Texts, or ids of the model's own tokenizer with its special tokens. */
  inputs: EmbedInputs,
  truncate: Truncate,
  /**
   * Whether texts that are too long are embedded in chunks: their vector is the mean of the chunks' vectors, weighted by tokens. Then
   * nothing is cut.
   */
  pool_chunks: v.optional(v.boolean(), false),
  prompt_name: PromptName,
  /** Size of the vectors. Smaller vectors keep their quality only if the model was trained for it (Matryoshka). */
  dimensions: v.optional(PositiveInteger),
  /**
   * `int8`: each vector has a scale of its own, so compare vectors by their cosine. `uint8`: the same, plus 128. `ubinary`: a bit
   * per dimension, 8 in a byte, the most significant first. `binary`: these bytes minus 128.
   */
  output_type: v.optional(OutputType, "float"),
  /** `base64` encodes the bytes of each vector: little-endian float32, or 8 bits each. */
  encoding_format: v.optional(EncodingFormat, "float"),
});
export type EmbedRequest = v.InferInput<typeof EmbedRequest>;

export const EmbedResponse = ownAnswer({
  /** One vector per input, in the order of the inputs; base64 strings when `encoding_format` is `base64`. */
  embeddings: v.union([v.array(v.array(v.number())), v.array(v.string())]),
});
export type EmbedResponse = v.InferOutput<typeof EmbedResponse>;

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
