/**
 * Computes the normalized discounted cumulative gain of the first `k` results, like trec_eval's ndcg_cut, which BEIR
 * uses. The gain is the relevance, the discount is log₂(rank + 1), and the ideal ranking contains all judged documents.
 * (https://github.com/usnistgov/trec_eval/blob/main/m_ndcg_cut.c)
 *
 * @param ranking ids of documents, best first
 * @param relevance relevance of judged documents by id. Negative values count as 0. Documents that are not in the map
 *   have the relevance 0.
 * @returns from 0 to 1; 0 when no document is relevant
 */
export function ndcgAt(k: number, ranking: readonly string[], relevance: ReadonlyMap<string, number>): number {
  const gains = ranking.map((id) => Math.max(0, relevance.get(id) ?? 0));
  const ideal = [...relevance.values()].map((value) => Math.max(0, value)).sort((a, b) => b - a);
  const best = discounted(ideal.slice(0, k));
  return best === 0 ? 0 : discounted(gains.slice(0, k)) / best;
}

const discounted = (gains: readonly number[]): number =>
  gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
