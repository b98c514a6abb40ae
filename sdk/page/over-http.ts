import { BertEdge } from "bert-edge/client";
import { type Answered, type Answers, type Budget, classifyInput, scoredDocuments } from "./answers.ts";
import type { Connection } from "./connection.ts";

/** Details of an answer that the client reads from headers. */
type Details = Pick<
  Awaited<ReturnType<BertEdge["embed"]>>,
  "tier" | "reason" | "predictedMs" | "tokens" | "version" | "requests"
>;

/** Asks the deployment. */
export function overHttp({ baseURL, key }: Connection): Answers {
  // Without retries, the page shows what the deployment answers first. Requests that exceed its limits are split.
  const client = (batchSize?: number) =>
    new BertEdge({ baseURL, apiKey: key, maxRetries: 0, ...(batchSize !== undefined && { batchSize }) });
  const bert = client();
  const options = (budget: Budget) => (budget === undefined ? {} : { latencyBudgetMs: budget });
  return {
    async embed(texts, budget, batchSize) {
      const { embeddings, ...details } = await client(batchSize).embed(texts, { ...options(budget), truncate: true });
      return answered(embeddings, details);
    },
    async classify(inputs, budget) {
      const { results, ...details } = await bert.classify(inputs.map(classifyInput), {
        ...options(budget),
        truncate: true,
      });
      return answered(results, details);
    },
    async rerank(query, documents, budget, batchSize) {
      const { results, ...details } = await client(batchSize).rerank(query, documents, options(budget));
      return answered(scoredDocuments(results, documents), details);
    },
  };
}

const answered = <R>(result: R, { tier, reason, predictedMs, tokens, version, requests }: Details): Answered<R> => ({
  result,
  place: tier,
  reason,
  predictedMs,
  tokens,
  version,
  decision: requests[0]?.decision,
});
