import type { RankedDocument } from "../../runtime/tasks/rerank.ts";
import { rerankCall } from "../../runtime/tasks/rerank-call.ts";
import { RerankRequest, RerankResponse } from "../contract/rerank.ts";
import { answerFields } from "./answer-fields.ts";
import { rankedResults, textOfDocument } from "./ranked-results.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/rerank`, which is Jina's route too. */
export const rerankRoute: TaskRoute<typeof RerankRequest, RankedDocument[]> = {
  schema: RerankRequest,
  about: {
    summary: "Documents, ranked by how well they fit a query (also for Jina’s clients)",
    example: { query: "Where does Anna work?", documents: ["Anna works in New York.", "to be"] },
    response: RerankResponse,
  },
  call: ({ query, documents, top_n, truncate }) =>
    rerankCall(query, documents.map(textOfDocument), { topN: top_n, truncate }),
  respond(c, answer, body) {
    const { usage, ...fields } = answerFields(answer);
    const results = rankedResults(answer.result, body);
    return c.json<RerankResponse>({ ...fields, results, usage: { ...usage, total_tokens: usage.tokens } });
  },
};
