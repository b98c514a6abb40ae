import { embedCall } from "../../runtime/tasks/embed-call.ts";
import { vectorFormats } from "../../runtime/tasks/vector-formats.ts";
import { EmbedRequest, EmbedResponse } from "../contract/embed.ts";
import { embedInputsIn } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { answerFields } from "./answer-fields.ts";
import { listResponse } from "./list-response.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/embed` */
export const embedRoute: TaskRoute<typeof EmbedRequest, Float32Array<ArrayBuffer>[]> = {
  schema: EmbedRequest,
  about: {
    summary: "Vectors of texts",
    example: { inputs: ["to be", "not to be"] },
    response: EmbedResponse,
  },
  call: ({ inputs, truncate, pool_chunks, dimensions, prompt_name }) =>
    embedCall(embedInputsIn(inputs), { truncate, poolChunks: pool_chunks, dimensions, prompt: prompt_name }),
  respond(c, answer, { encoding_format, output_type }) {
    const { result } = answer;
    const response: EmbedResponse = { ...answerFields(answer), embeddings: [] };
    const item = (index: number) =>
      formatVector(vectorFormats[output_type](result[index] as Float32Array<ArrayBuffer>), encoding_format);
    return listResponse(c, { frame: { body: response, list: "embeddings" }, count: result.length, item });
  },
};
