import { type Automaton, openAutomaton } from "../automaton.ts";
import { type CodePoints, openCodePoints } from "../code-points.ts";
import { checkIds, invalid, type PackedFile } from "../packed-file.ts";
import type { Numbers, UnigramHeader } from "../packed-header.ts";

/** The vocabulary. */
export interface Pieces {
  /** Of each code point: its place among those of the vocabulary, from 1 on; 0 for all others. */
  readonly codes: CodePoints;
  /** Of their codes. */
  readonly automaton: Automaton;
  /** [vocabulary]: the score of each id. */
  readonly scores: Float64Array;
  readonly unknown: number;
  readonly unknownScore: number;
  /** [256]: the ids that bytes of unknown code points have; empty where these have one for all. */
  readonly byteIds: Numbers;
}

const BYTES = 256;

/**
 * Checks that all pieces have a score.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openPieces({ header, sections }: PackedFile<UnigramHeader>, vocabulary: number): Pieces {
  const { codePageOf, codePages, scores, byteIds } = sections;
  const { unknown, unknownScore } = header;
  checkIds(byteIds, vocabulary);
  checkIds([unknown], vocabulary);
  if (byteIds.length !== 0 && byteIds.length !== BYTES) throw invalid("has no ids for bytes");
  return {
    codes: openCodePoints({ pageOf: codePageOf, pages: codePages }),
    automaton: openAutomaton(sections, Math.min(vocabulary, scores.length)),
    scores,
    unknown,
    unknownScore,
    byteIds,
  };
}
