import { similarityCall } from "../../../runtime/tasks/rerank-call.ts";
import { TeiSimilarityRequest } from "../../contract/tei.ts";
import type { TaskRoute } from "../task-route.ts";
import { describeWork } from "./describe-work.ts";

/** `POST /similarity` of text-embeddings-inference. */
export const teiSimilarityRoute: TaskRoute<typeof TeiSimilarityRequest, number[]> = {
  schema: TeiSimilarityRequest,
  call: ({ inputs: { source_sentence, sentences }, parameters }) =>
    similarityCall(source_sentence, sentences, { truncate: parameters?.truncate ?? true }),
  respond(c, answer, { inputs: { source_sentence, sentences } }) {
    describeWork(c, answer, [source_sentence, ...sentences]);
    return c.json(answer.result);
  },
};
