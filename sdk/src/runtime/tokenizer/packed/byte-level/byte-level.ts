import { contentFinder, stringText } from "../added-tokens.ts";
import type { TokenizerAlgorithm } from "../algorithm.ts";
import { openCodePoints } from "../code-points.ts";
import type { PackedFile } from "../packed-file.ts";
import type { ByteLevelSettings } from "../packed-settings.ts";
import { compose } from "./compose.ts";
import { createByteMerger } from "./merge-bytes.ts";
import { openMerges } from "./merges.ts";
import { wordEnd } from "./word-end.ts";

/** Maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;

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
  const merge = createByteMerger(openMerges(arrays, vocabularySize));
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(256);

  return {
    longestWord: Number.POSITIVE_INFINITY,
    normalize: (text) => (composes ? compose(classes, text) : text),
    textOf: stringText,
    findAdded: contentFinder(added.filter(({ normalized }) => normalized)),
    addIds(normalized, start, end, ids) {
      const part = normalized.slice(start, end);
      const text = prefixSpace && !part.startsWith(" ") ? ` ${part}` : part;
      for (let at = 0; at < text.length; ) {
        const next = wordEnd(classes, text, at);
        const room = MAX_UTF8_BYTES * (next - at);
        if (bytes.length < room) bytes = new Uint8Array(2 * room);
        merge(bytes, encoder.encodeInto(text.slice(at, next), bytes).written, ids);
        at = next;
      }
    },
  };
}
