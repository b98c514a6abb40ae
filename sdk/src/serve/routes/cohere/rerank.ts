import type { RankedDocument } from "../../../runtime/tasks/rerank.ts";
import { rerankCall } from "../../../runtime/tasks/rerank-call.ts";
import { CohereRerankRequest, CohereRerankResponse } from "../../contract/cohere.ts";
import { requestIdOf } from "../../middleware/request-id.ts";
import { rankedResults, textOfDocument } from "../ranked-results.ts";
import type { TaskRoute } from "../task-route.ts";
import { cohereMeta } from "./meta.ts";

/** Cohere's `POST /v2/rerank`. */
export const cohereRerankRoute: TaskRoute<typeof CohereRerankRequest, RankedDocument[]> = {
  schema: CohereRerankRequest,
  about: {
    summary: "Documents, ranked for Cohere’s clients",
    example: {
      model: "bert-edge-mini",
      query: "Where does Anna work?",
      documents: ["Anna works in New York.", "to be"],
    },
    response: CohereRerankResponse,
  },
  call: ({ query, documents, top_n }) => rerankCall(query, documents.map(textOfDocument), { topN: top_n }),
  respond: (c, answer, body) =>
    c.json<CohereRerankResponse>({
      id: requestIdOf(c),
      results: rankedResults(answer.result, body),
      meta: cohereMeta(answer),
    }),
};
