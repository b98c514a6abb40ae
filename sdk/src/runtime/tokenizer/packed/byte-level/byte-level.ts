import { contentFinder, stringText } from "../added-tokens.ts";
import type { TokenizerAlgorithm } from "../algorithm.ts";
import { isAtBlanks } from "../normalizers/at-blanks.ts";
import { openTable } from "../normalizers/charsmap.ts";
import { openNormalizer } from "../normalizers/open-normalizer.ts";
import { checkIds, type PackedFile } from "../packed-file.ts";
import type { ByteLevelSettings } from "../packed-settings.ts";
import { byteLevelText } from "./byte-level-text.ts";
import { addBytePlaces } from "./byte-places.ts";
import { createLongWordMerger } from "./long-words.ts";
import { createUnitMerger } from "./merge-bytes.ts";
import { openMerges } from "./merges.ts";
import { idsInParts } from "./text-parts.ts";
import { createWordEnd } from "./word-end.ts";

/** Maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;
/** Size in bytes of the buffer that words of usual length share. */
const KEPT = 1024;
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
  const { normalizers, prefixSpace, added, pattern, parts } = settings;
  checkIds(
    settings.whole.map(([, id]) => id),
    vocabularySize,
  );
  const whole = new Map(settings.whole);
  const classes = openTable(arrays, 0);
  const wordEnd = createWordEnd(classes, pattern);
  const encoder = new TextEncoder();
  const merges = openMerges(arrays, vocabularySize);
  const merge = createUnitMerger(merges, merges.byteIds);
  const mergeLong = createLongWordMerger(merges, merge, {
    create: (length) => new Uint8Array(length),
    encodeInto: (text, units) => encoder.encodeInto(text, units as Uint8Array<ArrayBuffer>),
    firstIds: merges.byteIds,
  });
  let bytes = new Uint8Array(KEPT);

  /** Writes a word's UTF-8 to `bytes`, and returns its length. */
  function encode(word: string): number {
    const room = Math.max(KEPT, MAX_UTF8_BYTES * word.length);
    if (bytes.length !== room) bytes = new Uint8Array(room);
    return encoder.encodeInto(word, bytes).written;
  }

  const addPart: TokenizerAlgorithm<string>["addIds"] = (normalized, start, end, ids, enough, places) => {
    const part = normalized.slice(start, end);
    const text = prefixSpace && !part.startsWith(" ") ? ` ${part}` : part;
    // The added space has no place in the normalized text.
    const shift = start - (text.length - part.length);
    for (let at = 0; at < text.length && ids.length <= enough; ) {
      const next = wordEnd(text, at);
      const word = text.slice(at, next);
      at = next;
      const token = whole.get(word);
      const isLong = word.length > LONG_WORD;
      const starts: number[] | undefined = places && [];
      // A long word is merged block by block, so all of its bytes are encoded only if its tokens' places are needed.
      const length = isLong && !places ? 0 : encode(word);
      if (token !== undefined) {
        ids.push(token);
        starts?.push(0);
      } else if (isLong) mergeLong(word, ids, enough, starts);
      else merge(bytes, length, ids, starts);
      if (places && starts) {
        addBytePlaces(places, { word, bytes, length, starts, at: shift + next - word.length, from: start });
      }
    }
  };

  return {
    vocabulary: byteLevelText(settings, merges),
    longestWord: Number.POSITIVE_INFINITY,
    splitsAtBlanks: !normalizers.some(isAtBlanks),
    normalize: openNormalizer(normalizers, arrays),
    textOf: stringText,
    findAdded: contentFinder(added.filter(({ normalized }) => normalized)),
    addIds: idsInParts(classes, parts, addPart),
  };
}
