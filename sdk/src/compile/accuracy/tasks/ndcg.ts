/**
 * Normalized discounted cumulative gain of the first `k` results, as trec_eval's ndcg_cut and with it BEIR compute it: the
 * gain is the relevance itself, the discount log₂(place + 1), the ideal ranking that of all judged documents
 * (https://github.com/usnistgov/trec_eval/blob/main/m_ndcg_cut.c).
 *
 * @param ranking ids of documents, best first
 * @param relevance of judged documents by id; others count as 0, as do negative ones
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
