import { bestOf } from "./best-of.ts";
import { logistic } from "./classify.ts";
import { cosine } from "./sentence-vector.ts";

/** A document's place in the request, and how well it answers the query. */
export interface RankedDocument {
  readonly index: number;
  readonly score: number;
}

/**
 * Scores a query and a document with a cross-encoder of one label: the sigmoid of its logit, as text-embeddings-inference and
 * sentence-transformers' CrossEncoder do. Cohere's scores have the same range. With `rawScores`, the score is the logit.
 *
 * @param logits [1]
 * @returns 0 to 1, or any number with `rawScores`
 */
export function relevanceScore(logits: Float32Array, { rawScores }: { rawScores: boolean }): number {
  const logit = logits[0] as number;
  return rawScores ? logit : logistic(logit);
}

/**
 * Compares a text with others: the cosines of their vectors, -1 to 1. With a sentence encoder, these are also the scores of a
 * query's documents.
 *
 * @param source [dimensions]
 * @param vectors [texts] of [dimensions]
 * @returns [texts]
 */
export const similarities = (source: Float32Array, vectors: readonly Float32Array[]): number[] =>
  vectors.map((vector) => cosine(source, vector));

/**
 * Sorts documents by their scores, best first. Of equal scores, the earlier document comes first.
 *
 * @param scores [documents]
 * @param topN maximum number of results; default: all
 */
export const rankedDocuments = (scores: readonly number[], topN: number = scores.length): RankedDocument[] =>
  bestOf(
    scores.map((score, index) => ({ index, score })),
    ({ score }) => score,
    topN,
  );
