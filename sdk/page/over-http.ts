import { BertEdge } from "bert-edge/client";
import type { Answered, Answers } from "./answers.ts";
import type { Connection } from "./connection.ts";

/** Details of an answer that the client reads from headers. */
type Details = Pick<Awaited<ReturnType<BertEdge["embed"]>>, "tier" | "reason" | "predictedMs" | "tokens" | "version">;

/** Asks the deployment. */
export function overHttp({ baseURL, key }: Connection): Answers {
  // Without retries, every answer and every refusal is one request that the page shows.
  const bert = new BertEdge({ baseURL, apiKey: key, maxRetries: 0 });
  const wishes = (budgetMs: number | undefined) => (budgetMs === undefined ? {} : { latencyBudgetMs: budgetMs });
  return {
    async embed(texts, budgetMs) {
      const { embeddings, ...details } = await bert.embed(texts, { ...wishes(budgetMs), truncate: true });
      return answered(embeddings, details);
    },
    async classify(inputs, budgetMs) {
      const sent = inputs.map((input) => (typeof input === "string" ? input : { text: input[0], textPair: input[1] }));
      const { results, ...details } = await bert.classify(sent, { ...wishes(budgetMs), truncate: true });
      return answered(results, details);
    },
    async rerank(query, documents, budgetMs) {
      const { results, ...details } = await bert.rerank(query, documents, wishes(budgetMs));
      const scored = results.map(({ index, relevanceScore }) => ({
        label: documents[index] ?? "",
        score: relevanceScore,
      }));
      return answered(scored, details);
    },
  };
}

const answered = <R>(result: R, { tier, reason, predictedMs, tokens, version }: Details): Answered<R> => ({
  result,
  // Requests of this page are small enough to be sent in one piece.
  place: tier === "region" ? "region" : "edge",
  reason,
  predictedMs,
  tokens,
  version,
});
