import { contentFinder, stringText } from "../added-tokens.ts";
import type { TokenizerAlgorithm } from "../algorithm.ts";
import { isWhiteSpace } from "../character-classes.ts";
import { numberOf } from "../code-points.ts";
import { isAtBlanks } from "../normalizers/at-blanks.ts";
import { openTable } from "../normalizers/charsmap.ts";
import { openNormalizer } from "../normalizers/open-normalizer.ts";
import type { PackedFile } from "../packed-file.ts";
import type { UnigramSettings } from "../packed-settings.ts";
import { addPlace, nextWord, type TokenPlaces } from "../token-places.ts";
import { withRoom } from "../with-room.ts";
import { createPieceSplitter } from "./best-pieces.ts";
import { unigramText } from "./unigram-text.ts";
import { openVocabulary } from "./vocabulary.ts";

/** Maximum code points of a word for which memory is kept. */
const KEPT = 1024;
/** Length in code points from which on a word gets all the memory that it can need. */
const LONG = 65_536;
const BLANK = 0x20;
/** ▁, which stands for a blank in pieces. */
const MARKED_BLANK = 0x2581;

/**
 * Creates Unigram, XLM-RoBERTa's algorithm, which splits words into the most probable pieces.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createUnigram(file: PackedFile<UnigramSettings>, vocabularySize: number): TokenizerAlgorithm<string> {
  const { normalizers, added, separates, punctuation, prefixSpace, splits } = file.settings;
  const isolated = punctuation === undefined ? undefined : openTable(file.arrays, punctuation);
  const vocabulary = openVocabulary(file, vocabularySize);
  const addPieces = createPieceSplitter(vocabulary);
  /** Code points of a word. */
  let points = new Uint32Array(KEPT);

  return {
    vocabulary: unigramText(file.settings, vocabulary),
    longestWord: Number.POSITIVE_INFINITY,
    splitsAtBlanks: (separates || splits) && !normalizers.some(isAtBlanks),
    normalize: openNormalizer(normalizers, file.arrays),
    textOf: stringText,
    findAdded: contentFinder(added.filter(({ normalized }) => normalized)),
    addIds(text, start, end, ids, enough, places) {
      /** Start and end of each point in the text. A blank that was added has the place of the point after it. */
      const spans: number[] = [];
      let length = 0;
      let word = places ? nextWord(places) : 0;
      const addWord = () => {
        const ends: number[] | undefined = places && [];
        addPieces(points, length, ids, enough, ends);
        let [from, done] = [0, 0];
        for (const to of ends ?? []) {
          // Tokens with the same end are the bytes of the same part.
          if (to > done) [from, done] = [done, to];
          addPlace(places as TokenPlaces, [spans[2 * from] as number, spans[2 * to - 1] as number], word);
        }
        if (length > 0) word++;
        length = 0;
      };
      const addPoint = (point: number, from: number, to: number) => {
        if (places) [spans[2 * length], spans[2 * length + 1]] = [from, to];
        // Each doubling leaves the smaller array as garbage, so a long word gets its full size at once. It has at most one point more
        // than the part of the text has units.
        if (length === points.length) points = withRoom(points, length < LONG ? 2 * length : end - start + 1);
        points[length++] = point;
      };
      let begins = true;
      for (let at = start; at < end && ids.length <= enough; at++) {
        const unitStart = at;
        const point = text.codePointAt(at) as number;
        if (point > 0xffff) at++;
        if (separates && isWhiteSpace(String.fromCodePoint(point))) {
          addWord();
          begins = true;
          continue;
        }
        const isIsolated = isolated !== undefined && numberOf(isolated, point) === 1;
        if (isIsolated) {
          addWord();
          begins = true;
        }
        const isBlank = point === BLANK || point === MARKED_BLANK;
        if (begins && prefixSpace && !isBlank) {
          addPoint(MARKED_BLANK, unitStart, at + 1);
        }
        if (splits && isBlank) addWord();
        addPoint(isBlank ? MARKED_BLANK : point, unitStart, at + 1);
        if (isIsolated) addWord();
        begins = isIsolated;
      }
      if (ids.length <= enough) addWord();
      if (points.length > KEPT) points = new Uint32Array(KEPT);
    },
  };
}
