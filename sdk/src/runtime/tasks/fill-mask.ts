import { bestOf } from "./best-of.ts";
import { softmax } from "./softmax.ts";

/** A token that could stand where a mask token is. */
export interface MaskCandidate {
  readonly tokenId: number;
  /** Probability among all tokens of the vocabulary. */
  readonly score: number;
}

export interface FillMaskOptions {
  /** Maximum number of candidates for each mask token; default 5. */
  readonly topK?: number | undefined;
  /** Token ids of which the candidates are chosen; default: all. Their scores stay the same. */
  readonly targets?: readonly number[] | undefined;
}

/**
 * Finds the most probable tokens for each mask token, best first, as transformers' FillMaskPipeline does: a softmax over the
 * vocabulary. The candidates of one mask token do not depend on those of another.
 *
 * @param logits [masks, vocabulary], row-major
 * @returns [masks, candidates]
 */
export function maskCandidates(
  logits: Float32Array,
  vocabulary: number,
  { topK = 5, targets }: FillMaskOptions = {},
): MaskCandidate[][] {
  const ids = targets && [...new Set(targets)];
  return Array.from({ length: logits.length / vocabulary }, (_, mask) => {
    const scores = softmax(logits.subarray(mask * vocabulary, (mask + 1) * vocabulary));
    const scoreOf = (tokenId: number) => scores[tokenId] as number;
    return bestOf(ids ?? scores.keys(), scoreOf, topK).map((tokenId) => ({ tokenId, score: scoreOf(tokenId) }));
  });
}
