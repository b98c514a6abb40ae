import { similarityCall } from "../../../runtime/tasks/rerank-call.ts";
import { TeiSimilarityRequest, teiResponses, teiTruncation } from "../../contract/tei.ts";
import type { TaskRoute } from "../task-route.ts";
import { describeWork } from "./describe-work.ts";

/** `POST /similarity` of text-embeddings-inference, which compares the vectors of all models by their cosine. */
export const teiSimilarityRoute: TaskRoute<typeof TeiSimilarityRequest, number[]> = {
  schema: TeiSimilarityRequest,
  about: {
    summary: "Scores of sentences, compared with one, for clients of text-embeddings-inference",
    example: { inputs: { source_sentence: "to be", sentences: ["not to be"] } },
    response: teiResponses.similarity,
  },
  call: ({ inputs: { source_sentence, sentences }, parameters }) =>
    similarityCall(source_sentence, sentences, { truncate: teiTruncation(parameters), similarity: "cosine" }),
  respond(c, answer, { inputs: { source_sentence, sentences } }) {
    describeWork(c, answer, [source_sentence, ...sentences]);
    return c.json(answer.result);
  },
};
