import { similarityCall } from "../../runtime/tasks/rerank-call.ts";
import { SimilarityRequest, SimilarityResponse } from "../contract/similarity.ts";
import { answerFields } from "./answer-fields.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/similarity` */
export const similarityRoute: TaskRoute<typeof SimilarityRequest, number[]> = {
  schema: SimilarityRequest,
  about: {
    summary: "Scores of texts, compared with one",
    example: { source: "to be", texts: ["not to be", "Anna"] },
    response: SimilarityResponse,
  },
  call: ({ source, texts, truncate }) => similarityCall(source, texts, { truncate }),
  respond: (c, answer) => c.json<SimilarityResponse>({ ...answerFields(answer), scores: answer.result }),
};
