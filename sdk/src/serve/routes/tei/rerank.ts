import type { RankedDocument } from "../../../runtime/tasks/rerank.ts";
import { rerankCall } from "../../../runtime/tasks/rerank-call.ts";
import { TeiRerankRequest, teiResponses, teiTruncation } from "../../contract/tei.ts";
import type { TaskRoute } from "../task-route.ts";
import { describeWork } from "./describe-work.ts";

/** `POST /rerank` of text-embeddings-inference, which knows no activation of a model: scores are sigmoids, or logits. */
export const teiRerankRoute: TaskRoute<typeof TeiRerankRequest, RankedDocument[]> = {
  schema: TeiRerankRequest,
  about: {
    summary: "Texts, ranked by how well they fit a query, for clients of text-embeddings-inference",
    example: { query: "Where does Anna work?", texts: ["Anna works in New York.", "to be"] },
    response: teiResponses.rerank,
  },
  call: ({ query, texts, raw_scores, ...wishes }) =>
    rerankCall(query, texts, { truncate: teiTruncation(wishes), activation: raw_scores ? "none" : "sigmoid" }),
  respond(c, answer, { query, texts, return_text }) {
    describeWork(c, answer, [query, ...texts]);
    return c.json(
      answer.result.map(({ index, score }) => ({ index, score, ...(return_text && { text: texts[index] }) })),
    );
  },
};
