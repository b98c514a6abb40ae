import { openCodePoints } from "../code-points.ts";
import { contentFinder, stringText } from "../find-added.ts";
import type { Kind } from "../kind.ts";
import type { PackedFile } from "../packed-file.ts";
import type { ByteLevelHeader } from "../packed-header.ts";
import { composed } from "./composed.ts";
import { createByteMerger } from "./merge-bytes.ts";
import { openMerges } from "./merges.ts";
import { wordEnd } from "./word-end.ts";

/** Bytes of UTF-8 for a unit of UTF-16, at most. */
const UTF8_BYTES = 3;

/**
 * RoBERTa's kind: bytes of UTF-8, merged within words.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createByteLevel({ header, sections }: PackedFile<ByteLevelHeader>, vocabulary: number): Kind<string> {
  const { composes, prefixSpace, added } = header;
  const classes = openCodePoints(sections);
  const merge = createByteMerger(openMerges(sections, vocabulary));
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(256);

  return {
    longestWord: Number.POSITIVE_INFINITY,
    normalize: (text) => (composes ? composed(classes, text) : text),
    textOf: stringText,
    findAdded: contentFinder(added.filter(({ normalized }) => normalized)),
    addIds(normalized, start, end, ids) {
      const part = normalized.slice(start, end);
      const text = prefixSpace && !part.startsWith(" ") ? ` ${part}` : part;
      for (let at = 0; at < text.length; ) {
        const next = wordEnd(classes, text, at);
        const room = UTF8_BYTES * (next - at);
        if (bytes.length < room) bytes = new Uint8Array(2 * room);
        merge(bytes, encoder.encodeInto(text.slice(at, next), bytes).written, ids);
        at = next;
      }
    },
  };
}
