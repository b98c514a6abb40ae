import { cosine } from "../../../runtime/tasks/sentence-vector.ts";
import { type Compute, eachTextOnce } from "./each-text-once.ts";
import type { StsPair } from "./read-sts.ts";
import { spearman } from "./spearman.ts";

/**
 * Computes Spearman's correlation between the scores of the pairs and the cosines of their vectors, and multiplies it
 * by 100. This is the usual metric of STS-B.
 *
 * @throws BertEdgeError `vector_invalid`
 */
export async function scoreSts(pairs: readonly StsPair[], embed: Compute): Promise<number> {
  const vectorOf = await eachTextOnce(
    pairs.flatMap(({ first, second }) => [first, second]),
    embed,
  );
  const cosines = pairs.map(({ first, second }) => cosine(vectorOf(first), vectorOf(second)));
  const scores = pairs.map(({ score }) => score);
  return 100 * spearman(scores, cosines);
}
