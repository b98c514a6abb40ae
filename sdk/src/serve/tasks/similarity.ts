import * as v from "valibot";
import { similarityCall } from "../../runtime/tasks/rerank.ts";
import { bodyOf, ownAnswer, PromptName, Truncate } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

export const similarityRoute = taskAt("/v1/similarity", {
  schema: bodyOf({
    source: v.string(),
    /** Texts that are compared with `source`. */
    texts: v.array(v.string()),
    truncate: Truncate,
    prompt_name: PromptName,
  }),
  summary: "Scores of texts, compared with one",
  example: { source: "to be", texts: ["not to be", "Anna"] },
  response: ownAnswer({
    /**
     * One score per text, in their order. A sentence encoder compares vectors by the model's own function, by default the cosine;
     * distances are negative. A cross-encoder's scores are those of `/v1/rerank`.
     */
    scores: v.array(v.number()),
  }),
  call: ({ source, texts, ...options }) => similarityCall(source, texts, camelCase(options)),
  respond: (answer) => ({ ...answerFields(answer), scores: answer.result }),
});

/** The body of `POST /v1/similarity`. */
export type SimilarityRequest = v.InferInput<typeof similarityRoute.schema>;
export type SimilarityResponse = v.InferOutput<typeof similarityRoute.response>;
