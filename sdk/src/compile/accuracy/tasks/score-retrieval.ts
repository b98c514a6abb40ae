import { cosine } from "../../../runtime/tasks/sentence-vector.ts";
import { type Compute, eachTextOnce } from "./each-text-once.ts";
import { ndcgAt } from "./ndcg.ts";
import type { Retrieval } from "./read-retrieval.ts";

/** BEIR's main figure is nDCG@10. */
const CUT = 10;

/**
 * Mean nDCG@10 of the queries that have judgements, over all documents by cosine. As in BEIR, a query does not find the
 * document of its own id; as in trec_eval, of equal cosines the greater id comes first.
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
