import type { ScoreActivation, Similarity } from "../../artifact/manifest.ts";
import { bestOf } from "./best-of.ts";
import { logistic } from "./classify.ts";
import { cosine } from "./sentence-vector.ts";

/** A document's place in the request, and how well it answers the query. */
export interface RankedDocument {
  readonly index: number;
  readonly score: number;
}

/**
 * Scores a query and a document with a cross-encoder of one label, as sentence-transformers' CrossEncoder does.
 *
 * @param logits [1]
 * @returns the sigmoid of the logit, 0 to 1; the logit itself with the activation `none`
 */
export function relevanceScore(logits: Float32Array, activation: ScoreActivation): number {
  const logit = logits[0] as number;
  return activation === "none" ? logit : logistic(logit);
}

/** Sums a number for each dimension of two vectors. */
const sum = (a: Float32Array, b: Float32Array, of: (x: number, y: number) => number): number =>
  a.reduce((total, x, i) => total + of(x, b[i] as number), 0);

const functions: Readonly<Record<Similarity | "cosine", (a: Float32Array, b: Float32Array) => number>> = {
  cosine,
  dot: (a, b) => sum(a, b, (x, y) => x * y),
  euclidean: (a, b) => -Math.sqrt(sum(a, b, (x, y) => (x - y) ** 2)),
  manhattan: (a, b) => -sum(a, b, (x, y) => Math.abs(x - y)),
};

/**
 * Compares a text with others, with the similarity function of sentence-transformers that the model names. Distances are negative,
 * so that a larger number means more similar. With a sentence encoder, these are also the scores of a query's documents.
 *
 * @param source [dimensions]
 * @param vectors [texts] of [dimensions]
 * @param similarity default: the cosine, -1 to 1
 * @returns [texts]
 */
export const similarities = (
  source: Float32Array,
  vectors: readonly Float32Array[],
  similarity: Similarity | "cosine" = "cosine",
): number[] => vectors.map((vector) => functions[similarity](source, vector));

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
