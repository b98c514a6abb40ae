import { type Automaton, openAutomaton } from "../automaton.ts";
import { type CodePointTable, openCodePoints } from "../code-points.ts";
import type { IntegerArray } from "../packed-arrays.ts";
import { checkIds, invalid, type PackedFile } from "../packed-file.ts";
import type { UnigramSettings } from "../packed-settings.ts";

/** Pieces with their scores. */
export interface UnigramVocabulary {
  /** Code of each code point: its number among the characters of the vocabulary, from 1 on; 0 for other code points. */
  readonly codes: CodePointTable;
  /** The pieces, as codes. */
  readonly automaton: Automaton;
  /** [vocabulary size]: the score of each id. */
  readonly scores: Float64Array;
  /** Id and score of a code point that is no piece. */
  readonly unknown: number;
  readonly unknownScore: number;
  /** [256]: ids of the bytes that unknown code points are written in; empty where `unknown` stands for them. */
  readonly byteIds: IntegerArray;
}

const BYTES = 256;

/**
 * Checks that all pieces have a score and an id below the vocabulary size.
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
