import * as v from "valibot";
import { type RankedDocument, rankedResults, rerankCall } from "../../runtime/tasks/rerank.ts";
import { bodyOf, onlyAs, ownAnswer, PositiveInteger, Truncate } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

/** A document's text. */
export const Document = v.pipe(
  v.union([v.string(), v.object({ text: v.string() })], "must be a string, or an object with `text`"),
  v.transform((document) => (typeof document === "string" ? document : document.text)),
);

export const RerankResult = v.object({
  /** Index of the document in the request. */
  index: v.number(),
  /**
   * Score of the document. A cross-encoder gives the sigmoid of the logit, or the logit if the model says so. Other models give the
   * similarity of `/v1/similarity`.
   */
  relevance_score: v.number(),
  document: v.exactOptional(v.object({ text: v.string() })),
});
export type RerankResult = v.InferOutput<typeof RerankResult>;

/** The route of bert-edge, which Jina's clients use too. */
export const rerankRoute = taskAt("/v1/rerank", {
  schema: bodyOf({
    query: v.string(),
    documents: v.array(Document),
    /** Maximum number of tokens that the model reads of a document. */
    max_tokens_per_doc: v.optional(PositiveInteger),
    /** Maximum number of results. Default: all. */
    top_n: v.optional(PositiveInteger),
    /** Whether results contain their documents. */
    return_documents: v.optional(v.boolean(), true),
    truncate: Truncate,
    truncation: onlyAs([true], "Send `truncate`."),
    top_k: onlyAs([], "Send `top_n`."),
    max_doc_length: onlyAs([], "Send `max_tokens_per_doc`."),
    max_query_length: onlyAs([], "Shorten the query."),
    max_chunks_per_doc: onlyAs([1]),
    rank_fields: onlyAs([]),
    return_embeddings: onlyAs([false]),
  }),
  summary: "Documents, ranked by how well they fit a query (also for Jina’s clients)",
  example: { query: "Where does Anna work?", documents: ["Anna works in New York.", "to be"] },
  response: ownAnswer({
    /** Best first. */
    results: v.array(RerankResult),
    usage: v.object({ tokens: v.number(), total_tokens: v.number() }),
  }),
  call: ({ query, documents, ...options }) => rerankCall(query, documents, camelCase(options)),
  respond(answer, body) {
    const { usage, ...fields } = answerFields(answer);
    const results = documentResults(answer.result, body);
    return { ...fields, results, usage: { ...usage, total_tokens: usage.tokens } };
  },
});

/** The body of `POST /v1/rerank`, as at Jina: https://jina.ai/reranker */
export type RerankRequest = v.InferInput<typeof rerankRoute.schema>;
export type RerankResponse = v.InferOutput<typeof rerankRoute.response>;

/** Describes the ranked documents of an answer. */
export const documentResults = (
  ranked: readonly RankedDocument[],
  { documents, return_documents }: { readonly documents: readonly string[]; readonly return_documents: boolean },
): RerankResult[] => rankedResults(ranked, documents, "relevance_score", return_documents);
