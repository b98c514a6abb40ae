import { type Compute, eachTextOnce } from "#sdk/compile/accuracy/tasks/each-text-once.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { ndcgAt } from "./ndcg.ts";
import type { Retrieval } from "./read-retrieval.ts";

/** Number of ranked documents that count. BEIR's main metric is nDCG@10. */
const CUT = 10;

/**
 * Computes the mean nDCG@10 of the queries with judgements. All documents are ranked by cosine. As in BEIR, the ranking
 * of a query never contains a document with the same id as the query. As in trec_eval, the greater id comes first when
 * cosines are equal.
 *
 * @returns from 0 to 1
 * @throws BertEdgeError `vector_invalid`
 */
export async function scoreRetrieval({ documents, queries, relevance }: Retrieval, embed: Compute): Promise<number> {
  const judged = [...relevance].map(([id, ofDocuments]) => ({ id, ofDocuments, text: queries.get(id) as string }));
  const vectorOf = await eachTextOnce([...documents.values(), ...judged.map(({ text }) => text)], embed);
  const candidates = [...documents].map(([id, text]) => ({ id, vector: vectorOf(text) }));
  const gains = judged.map(({ id, text, ofDocuments }) => {
    const query = vectorOf(text);
    const ranking = candidates
      .filter((candidate) => candidate.id !== id)
      .map((candidate) => ({ id: candidate.id, score: cosine(query, candidate.vector) }))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1));
    return ndcgAt(
      CUT,
      ranking.map((document) => document.id),
      ofDocuments,
    );
  });
  return gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
}
