import * as v from "valibot";
import { ownAnswer, ownBody, PositiveInteger, TruncationField } from "./fields.ts";

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
  truncate: v.optional(TruncationField, true),
});
export type RerankRequest = v.InferInput<typeof RerankRequest>;

const RerankResult = v.object({
  /** Index of the document in the request. */
  index: v.number(),
  /**
   * A cross-encoder's score is the sigmoid of the logit, 0 to 1, or the logit itself if the model says so. A sentence encoder's is that
   * of `/v1/similarity`.
   */
  relevance_score: v.number(),
  document: v.exactOptional(v.object({ text: v.string() })),
});
export type RerankResult = v.InferOutput<typeof RerankResult>;

export const RerankResponse = ownAnswer({
  /** Best first. */
  results: v.array(RerankResult),
  usage: v.object({ tokens: v.number(), total_tokens: v.number() }),
});
export type RerankResponse = v.InferOutput<typeof RerankResponse>;
