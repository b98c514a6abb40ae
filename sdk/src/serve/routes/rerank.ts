import type { RankedDocument } from "../../runtime/tasks/rerank.ts";
import { rerankCall } from "../../runtime/tasks/rerank-call.ts";
import { RerankRequest, type RerankResponse } from "../contract/rerank.ts";
import { answerFields } from "./answer-fields.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/rerank`, which is Jina's route too. */
export const rerankRoute: TaskRoute<typeof RerankRequest, RankedDocument[]> = {
  schema: RerankRequest,
  call: ({ query, documents, top_n, truncate }) => rerankCall(query, documents.map(textOf), { topN: top_n, truncate }),
  respond(c, answer, { documents, return_documents }) {
    const { usage, ...fields } = answerFields(answer);
    return c.json<RerankResponse>({
      ...fields,
      results: answer.result.map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(return_documents && { document: { text: textOf(documents[index] ?? "") } }),
      })),
      usage: { ...usage, total_tokens: usage.tokens },
    });
  },
};

const textOf = (document: string | { readonly text: string }): string =>
  typeof document === "string" ? document : document.text;
