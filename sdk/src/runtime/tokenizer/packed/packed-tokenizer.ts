import { type Tokenizer, tokenizerOf } from "../tokenizer.ts";
import { beyond, openAutomaton } from "./automaton.ts";
import { normalise, openCharacters } from "./characters.ts";
import { normalisedFinder, normalisedText, rawFinder, rawText } from "./find-added.ts";
import { readPackedFile } from "./packed-file.ts";
import { splitAdded } from "./split-added.ts";
import { createWordPieces } from "./word-pieces.ts";

/**
 * A tokenizer that reads its file in place: what `packTokenizer` wrote, with the ids of Hugging Face's Rust tokenizers.
 *
 * @param bytes kept, and never written to
 * @param vocabulary words of the model: every id is smaller
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createPackedTokenizer(bytes: Uint8Array<ArrayBuffer>, vocabulary: number): Tokenizer {
  const { header, sections } = readPackedFile(bytes);
  const { unknown, prefix, suffix, added, longestWord } = header;
  for (const id of [unknown, ...prefix, ...suffix, ...added.map(({ id }) => id)]) {
    if (id >= vocabulary) throw beyond(id, vocabulary);
  }
  const characters = openCharacters(sections);
  const automaton = openAutomaton(sections, vocabulary);
  const wordPieces = createWordPieces(header, automaton);
  const [findRaw, findNormalised] = [rawFinder(header), normalisedFinder(header, automaton)];

  /** Of a text without added tokens that are not normalised. */
  function addContent(text: string, ids: number[]): void {
    const symbols = normalise(characters, text);
    splitAdded(
      normalisedText(symbols),
      findNormalised?.(symbols) ?? [],
      (start, end) => wordPieces(symbols, start, end, ids),
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
        rawText(text),
        findRaw?.(text) ?? [],
        (start, end) => addContent(text.slice(start, end), ids),
        (id) => ids.push(id),
      );
      return ids;
    },
  });
}
