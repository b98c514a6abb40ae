import { type Automaton, openAutomaton } from "../automaton.ts";
import { type CodePointTable, openCodePoints } from "../code-points.ts";
import type { IntegerArray } from "../packed-arrays.ts";
import { checkIds, invalid, type PackedFile } from "../packed-file.ts";
import type { UnigramSettings } from "../packed-settings.ts";

/** The vocabulary of a Unigram tokenizer: pieces (the texts of its tokens) with their scores. */
export interface UnigramVocabulary {
  /** Code of each code point. The vocabulary's characters are numbered from 1 on; all other code points have code 0. */
  readonly codes: CodePointTable;
  /** Finds pieces by the codes of their characters. */
  readonly automaton: Automaton;
  /** [vocabulary size]: score of each token id. */
  readonly scores: Float64Array;
  /** Token id and score of a code point that is not a piece. */
  readonly unknown: number;
  readonly unknownScore: number;
  /** [256]: token ids of bytes, which encode unknown code points. Empty if unknown code points get the id `unknown`. */
  readonly byteIds: IntegerArray;
}

const BYTES = 256;

/**
 * Opens the vocabulary of a packed tokenizer. Checks that all pieces have a score and an id below the vocabulary size.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openVocabulary(
  { settings, arrays }: PackedFile<UnigramSettings>,
  vocabularySize: number,
): UnigramVocabulary {
  const { codePageOf, codePages, scores, byteIds } = arrays;
  const { unknown, unknownScore } = settings;
  checkIds(byteIds, vocabularySize);
  checkIds([unknown], vocabularySize);
  if (byteIds.length !== 0 && byteIds.length !== BYTES)
    throw invalid(`has ids for ${byteIds.length} bytes instead of ${BYTES}`);
  return {
    codes: openCodePoints({ pageOf: codePageOf, pages: codePages }),
    automaton: openAutomaton(arrays, Math.min(vocabularySize, scores.length)),
    scores,
    unknown,
    unknownScore,
    byteIds,
  };
}
