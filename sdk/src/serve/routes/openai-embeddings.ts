import { embedCall } from "../../runtime/tasks/embed-call.ts";
import { OpenAiEmbeddingsRequest, OpenAiEmbeddingsResponse } from "../contract/embed.ts";
import { embedInputsIn } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { listResponse } from "./list-response.ts";
import type { TaskRoute } from "./task-route.ts";

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
