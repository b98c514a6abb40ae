import { contentFinder, stringText } from "../added-tokens.ts";
import type { TokenizerAlgorithm } from "../algorithm.ts";
import { isWhiteSpace } from "../character-classes.ts";
import type { PackedFile } from "../packed-file.ts";
import type { UnigramSettings } from "../packed-settings.ts";
import { createPieceSplitter } from "./best-pieces.ts";
import { openCharsmap } from "./charsmap.ts";
import { normalizeText } from "./normalize-text.ts";
import { openVocabulary } from "./vocabulary.ts";

const BLANK = 0x20;
/** ▁, which stands for a blank in pieces. */
const MARKED_BLANK = 0x2581;

/**
 * Creates Unigram, XLM-RoBERTa's algorithm, which splits words into the most probable pieces.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createUnigram(file: PackedFile<UnigramSettings>, vocabularySize: number): TokenizerAlgorithm<string> {
  const { normalizers, added, separates, prefixSpace, splits } = file.settings;
  const charsmap = openCharsmap(file.arrays);
  const addPieces = createPieceSplitter(openVocabulary(file, vocabularySize));

  return {
    longestWord: Number.POSITIVE_INFINITY,
    normalize: (text) => normalizeText(normalizers, charsmap, text),
    textOf: stringText,
    findAdded: contentFinder(added.filter(({ normalized }) => normalized)),
    addIds(text, start, end, ids) {
      const points: number[] = [];
      let length = 0;
      const addWord = () => {
        addPieces(points, length, ids);
        length = 0;
      };
      let begins = true;
      for (let at = start; at < end; at++) {
        const point = text.codePointAt(at) as number;
        if (point > 0xffff) at++;
        if (separates && isWhiteSpace(String.fromCodePoint(point))) {
          addWord();
          begins = true;
          continue;
        }
        const isBlank = point === BLANK || point === MARKED_BLANK;
        if (begins && prefixSpace && !isBlank) points[length++] = MARKED_BLANK;
        if (splits && isBlank) addWord();
        points[length++] = isBlank ? MARKED_BLANK : point;
        begins = false;
      }
      addWord();
    },
  };
}
