import { isWhiteSpace } from "../character-classes.ts";
import { contentFinder, stringText } from "../find-added.ts";
import type { Kind } from "../kind.ts";
import type { PackedFile } from "../packed-file.ts";
import type { UnigramHeader } from "../packed-header.ts";
import { createBestPieces } from "./best-pieces.ts";
import { openCharsmap } from "./charsmap.ts";
import { normalized } from "./normalized.ts";
import { openPieces } from "./pieces.ts";

const BLANK = 0x20;
/** ▁, which stands for a blank. */
const MARKED_BLANK = 0x2581;

/**
 * XLM-R's kind: words cut into the most probable pieces.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createUnigram(file: PackedFile<UnigramHeader>, vocabulary: number): Kind<string> {
  const { steps, added, separates, prefixSpace, splits } = file.header;
  const charsmap = openCharsmap(file.sections);
  const addPieces = createBestPieces(openPieces(file, vocabulary));

  return {
    longestWord: Number.POSITIVE_INFINITY,
    normalize: (text) => normalized(steps, charsmap, text),
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
