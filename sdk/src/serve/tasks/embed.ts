import * as v from "valibot";
import { embedCall } from "../../runtime/tasks/embed.ts";
import { vectorFormats } from "../../runtime/tasks/vector-formats.ts";
import {
  bodyOf,
  CohereTexts,
  EmbedInputs,
  EncodingFormat,
  onlyAs,
  ownAnswer,
  PositiveInteger,
  PromptName,
  Truncate,
} from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { formatVector } from "../contract/vector-text.ts";
import { listResponse } from "../routes/in-parts.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

export const embedRoute = taskAt("/v1/embed", {
  task: "embed",
  schema: bodyOf({
    texts: CohereTexts,
    /** Texts, or token ids of the model's own tokenizer, including its special tokens. */
    inputs: EmbedInputs,
    truncate: Truncate,
    /** Whether to read long texts in chunks instead of cutting them: the vector is the mean of the chunks' vectors, weighted by tokens. */
    pool_chunks: v.optional(v.boolean(), false),
    prompt_name: PromptName,
    input_type: onlyAs([], "Send `prompt_name`."),
    /** Whether vectors have the length 1. Default: as the model says. */
    normalize: v.optional(v.boolean()),
    /** Size of the vectors. Smaller vectors keep their quality only if the model was trained for it (Matryoshka). */
    dimensions: v.optional(PositiveInteger),
    /**
     * `int8`: each vector has a scale of its own, so compare vectors by their cosine. `uint8`: the same, plus 128. `ubinary`: a bit
     * per dimension, 8 in a byte, the most significant first. `binary`: these bytes minus 128.
     */
    output_type: v.optional(v.picklist(["float", "int8", "uint8", "binary", "ubinary"]), "float"),
    /** `base64` encodes the bytes of each vector: little-endian float32, or 8 bits each. */
    encoding_format: v.optional(EncodingFormat, "float"),
  }),
  summary: "Vectors of texts",
  example: { inputs: ["to be", "not to be"] },
  response: ownAnswer({
    /** One vector per input, in the order of the inputs; base64 strings when `encoding_format` is `base64`. */
    embeddings: v.union([v.array(v.array(v.number())), v.array(v.string())]),
  }),
  call: ({ inputs, ...options }) => embedCall(inputs, camelCase(options)),
  respond: (answer, { encoding_format, output_type }, c) =>
    listResponse(c, answer.result, (vector) => formatVector(vectorFormats[output_type](vector), encoding_format), {
      ...answerFields(answer),
      embeddings: [],
    }),
});

/** The body of `POST /v1/embed`. */
export type EmbedRequest = v.InferInput<typeof embedRoute.schema>;
export type EmbedResponse = v.InferOutput<typeof embedRoute.response>;
