import { contentFinder, stringText } from "../added-tokens.ts";
import type { TokenizerAlgorithm } from "../algorithm.ts";
import { openCodePoints } from "../code-points.ts";
import type { PackedFile } from "../packed-file.ts";
import type { ByteLevelSettings } from "../packed-settings.ts";
import { identity } from "../token-places.ts";
import { byteLevelText } from "./byte-level-text.ts";
import { addBytePlaces } from "./byte-places.ts";
import { compose } from "./compose.ts";
import { composedOrigins } from "./composed-origins.ts";
import { createLongWordMerger } from "./long-words.ts";
import { createByteMerger } from "./merge-bytes.ts";
import { openMerges } from "./merges.ts";
import { wordEnd } from "./word-end.ts";

/** Maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;
/** Maximum UTF-16 code units of a word that is merged as a whole. */
const LONG_WORD = 2 ** 14;

/**
 * Creates byte-level BPE, RoBERTa's algorithm, which merges the UTF-8 bytes of each word.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createByteLevel(
  { settings, arrays }: PackedFile<ByteLevelSettings>,
  vocabularySize: number,
): TokenizerAlgorithm<string> {
  const { composes, prefixSpace, added } = settings;
  const classes = openCodePoints(arrays);
  const merges = openMerges(arrays, vocabularySize);
  const merge = createByteMerger(merges);
  const mergeLong = createLongWordMerger(merges, merge);
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(256);

  return {
    vocabulary: byteLevelText(settings, merges),
    longestWord: Number.POSITIVE_INFINITY,
    splitsAtBlanks: true,
    normalize(text, origins) {
      const normalized = composes ? compose(classes, text) : text;
      if (!origins) return normalized;
      // Long texts have more origins than a call can have arguments.
      for (const position of normalized === text ? identity(text) : composedOrigins(text, normalized))
        origins.push(position);
      return normalized;
    },
    textOf: stringText,
    findAdded: contentFinder(added.filter(({ normalized }) => normalized)),
    addIds(normalized, start, end, ids, enough, places) {
      const part = normalized.slice(start, end);
      const text = prefixSpace && !part.startsWith(" ") ? ` ${part}` : part;
      // The added space has no place in the normalized text.
      const shift = start - (text.length - part.length);
      for (let at = 0; at < text.length && ids.length <= enough; ) {
        const next = wordEnd(classes, text, at);
        const word = text.slice(at, next);
        at = next;
        if (word.length > LONG_WORD && !places) {
          mergeLong(word, ids, enough);
          continue;
        }
        const room = MAX_UTF8_BYTES * word.length;
        if (bytes.length < room) bytes = new Uint8Array(2 * room);
        const starts: number[] | undefined = places && [];
        merge(bytes, encoder.encodeInto(word, bytes).written, ids, starts);
        if (places && starts)
          addBytePlaces(places, { word, bytes, starts, at: shift + next - word.length, from: start });
      }
    },
  };
}
