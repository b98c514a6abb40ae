import { type Tokenizer, tokenizerOf } from "../tokenizer.ts";
import { createByteLevel } from "./byte-level/byte-level.ts";
import { contentFinder, stringText } from "./find-added.ts";
import type { Kind } from "./kind.ts";
import { checkIds, readPackedFile } from "./packed-file.ts";
import type { Header } from "./packed-header.ts";
import { splitAdded } from "./split-added.ts";
import { createUnigram } from "./unigram/unigram.ts";
import { createWordPiece } from "./word-piece.ts";

/**
 * A tokenizer that reads its file in place: what `packTokenizer` wrote, with the ids of Hugging Face's Rust tokenizers.
 *
 * @param bytes kept, and never written to
 * @param vocabulary words of the model: every id is smaller
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createPackedTokenizer(bytes: Uint8Array<ArrayBuffer>, vocabulary: number): Tokenizer {
  const file = readPackedFile(bytes);
  const { prefix, suffix, added } = file.header;
  checkIds([...prefix, ...suffix, ...added.map(({ id }) => id)], vocabulary);
  switch (file.kind) {
    case "wordpiece":
      return tokenizerOfKind(file.header, createWordPiece(file, vocabulary));
    case "byte-level":
      return tokenizerOfKind(file.header, createByteLevel(file, vocabulary));
    case "unigram":
      return tokenizerOfKind(file.header, createUnigram(file, vocabulary));
  }
}

function tokenizerOfKind<T>(
  { prefix, suffix, added }: Header,
  { longestWord, normalize, textOf, findAdded, addIds }: Kind<T>,
): Tokenizer {
  const findRaw = contentFinder(added.filter(({ normalized }) => !normalized));

  /** Of a text without added tokens that are not normalized. */
  function addContent(text: string, ids: number[]): void {
    const normalized = normalize(text);
    splitAdded(
      textOf(normalized),
      findAdded?.(normalized) ?? [],
      (start, end) => addIds(normalized, start, end, ids),
      (id) => ids.push(id),
    );
  }

  return tokenizerOf({
    prefix,
    suffix,
    longestWord,
    contentOf(text) {
      const ids: number[] = [];
      splitAdded(
        stringText(text),
        findRaw?.(text) ?? [],
        (start, end) => addContent(text.slice(start, end), ids),
        (id) => ids.push(id),
      );
      return ids;
    },
  });
}
