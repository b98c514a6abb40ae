import * as v from "valibot";
import { type AnswerFields, ownBody, PositiveInteger } from "./fields.ts";

const Document = v.union([v.string(), v.object({ text: v.string() })], "must be a string, or an object with `text`");

/** The body of `POST /v1/rerank`, which is Jina's: https://jina.ai/reranker */
export const RerankRequest = ownBody({
  query: v.string(),
  documents: v.array(Document),
  /** Maximum number of results. Default: all. */
  top_n: v.optional(PositiveInteger),
  /** Whether results have their documents. */
  return_documents: v.optional(v.boolean(), true),
  /** Whether to cut texts that are too long instead of refusing them. */
  truncate: v.optional(v.boolean(), true),
});
export type RerankRequest = v.InferInput<typeof RerankRequest>;

export interface RerankResult {
  /** Index of the document in the request. */
  index: number;
  relevance_score: number;
  document?: { text: string };
}

export interface RerankResponse extends Omit<AnswerFields, "usage"> {
  /** Best first. */
  results: RerankResult[];
  usage: { tokens: number; total_tokens: number };
}
