import * as v from "valibot";
import { similarityCall } from "../../runtime/tasks/rerank.ts";
import { ownAnswer, ownBody, Truncate } from "../contract/fields.ts";
import { type Route, taskAt } from "../routes/dialect.ts";
import { answerFields } from "../routes/task-route.ts";

/** The body of `POST /v1/similarity`. */
export const SimilarityRequest = ownBody({
  source: v.string(),
  /** Texts that are compared with `source`. */
  texts: v.array(v.string()),
  truncate: Truncate,
});
export type SimilarityRequest = v.InferInput<typeof SimilarityRequest>;

export const SimilarityResponse = ownAnswer({
  /**
   * One score per text, in their order. A sentence encoder's vectors are compared with the model's own function, which is the cosine by
   * default; distances are negative. A cross-encoder's scores are those of `/v1/rerank`.
   */
  scores: v.array(v.number()),
});
export type SimilarityResponse = v.InferOutput<typeof SimilarityResponse>;

export const similarityRoute: Route = taskAt("/v1/similarity", {
  schema: SimilarityRequest,
  summary: "Scores of texts, compared with one",
  example: { source: "to be", texts: ["not to be", "Anna"] },
  response: SimilarityResponse,
  call: ({ source, texts, truncate }) => similarityCall(source, texts, { truncate }),
  respond: (c, answer) => c.json<SimilarityResponse>({ ...answerFields(answer), scores: answer.result }),
});
