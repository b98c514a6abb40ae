import { type TokenVectors, tokenVectorsCall } from "../../runtime/tasks/token-vectors-call.ts";
import { textsIn } from "../contract/fields.ts";
import { formatVector } from "../contract/format-vector.ts";
import { TokenVectorsRequest, TokenVectorsResponse } from "../contract/token-vectors.ts";
import { answerFields } from "./answer-fields.ts";
import { formatTokenVectors } from "./format-token-vectors.ts";
import { listResponse } from "./list-response.ts";
import type { TaskRoute } from "./task-route.ts";

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
