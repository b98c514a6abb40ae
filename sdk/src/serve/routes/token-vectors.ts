import { type TokenVectors, tokenVectorsCall } from "../../runtime/tasks/token-vectors-call.ts";
import { textsIn } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { TokenVectorsRequest, type TokenVectorsResponse } from "../contract/token-vectors.ts";
import { answerFields } from "./answer-fields.ts";
import { listResponse } from "./list-response.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/token-vectors` */
export const tokenVectorsRoute: TaskRoute<typeof TokenVectorsRequest, TokenVectors[]> = {
  schema: TokenVectorsRequest,
  call: ({ inputs, truncate, prompt_name }) => tokenVectorsCall(textsIn(inputs), { truncate, prompt: prompt_name }),
  respond(c, answer, { encoding_format }) {
    const { result } = answer;
    const dimensions = result[0]?.dimensions ?? 0;
    const response: TokenVectorsResponse = { ...answerFields(answer), dimensions, embeddings: [] };
    const item = (index: number) => {
      const { vectors } = result[index] as TokenVectors;
      if (encoding_format === "base64") return formatVector(vectors, encoding_format);
      const tokens = Array.from({ length: vectors.length / dimensions }, (_, token) =>
        formatVector(vectors.subarray(token * dimensions, (token + 1) * dimensions), encoding_format),
      );
      return `[${tokens}]`;
    };
    return listResponse(c, { body: response, list: "embeddings", count: result.length, item });
  },
};
