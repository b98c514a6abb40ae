import type { Side } from "../../truncation.ts";
import type { Tokenizer } from "../tokenizer.ts";
import { tokenizerOf } from "../tokenizer-of.ts";
import { contentFinder, splitAtAdded, stringText } from "./added-tokens.ts";
import type { TokenizerAlgorithm } from "./algorithm.ts";
import { createBpe } from "./bpe/bpe.ts";
import { createByteLevel } from "./byte-level/byte-level.ts";
import { checkIds, readPackedFile } from "./packed-file.ts";
import type { TokenizerSettings, WordPieceSettings } from "./packed-settings.ts";
import { addPlace, nextWord, noPlaces, type Origins, type TokenPlaces } from "./token-places.ts";
import { trimSpaces, whiteSpaceAround } from "./trim-spaces.ts";
import { createUnigram } from "./unigram/unigram.ts";
import { createWordPiece } from "./word-piece/word-piece.ts";

/**
 * Creates a tokenizer that uses its file without a copy. The tokenizer gives the same ids as Hugging Face's Rust
 * tokenizers.
 *
 * @param bytes file written by `packTokenizer`; must not change afterwards
 * @param vocabularySize vocabulary size of the model; every token id must be smaller
 * @param side end at which texts that are too long are cut. Default: the right
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createPackedTokenizer(bytes: Uint8Array<ArrayBuffer>, vocabularySize: number, side?: Side): Tokenizer {
  const file = readPackedFile(bytes);
  const { prefix, suffix, pair, added } = file.settings;
  const ofPairs = pair ? [...pair.prefix, ...pair.separator, ...pair.suffix] : [];
  checkIds([...prefix, ...suffix, ...ofPairs, ...added.map(({ id }) => id)], vocabularySize);
  switch (file.kind) {
    case "wordpiece":
      return tokenizerFor(createWordPiece(file, vocabularySize), file.settings, side);
    case "byte-level":
      return tokenizerFor(createByteLevel(file, vocabularySize), file.settings, side);
    case "bpe":
      return tokenizerFor(createBpe(file, vocabularySize), file.settings, side);
    case "unigram":
      return tokenizerFor(createUnigram(file, vocabularySize), file.settings, side);
  }
}

/** Collects the tokens of a text, and their places. */
interface Placing {
  readonly ids: number[];
  readonly places: TokenPlaces;
  /** Number of code points of each token as the vocabulary spells it. */
  readonly spelled: number[];
}

function tokenizerFor<T>(
  { longestWord, splitsAtBlanks, normalize, textOf, findAdded, addIds, vocabulary }: TokenizerAlgorithm<T>,
  settings: TokenizerSettings,
  side: Side | undefined,
): Tokenizer {
  const { prefix, suffix, pair, added } = settings;
  const trimming = settings.kind === "byte-level" && settings.trimsOffsets ? settings : undefined;
  const findRaw = contentFinder(added.filter(({ normalized }) => !normalized));

  /**
   * Normalizes one part of a text and appends its token ids. The text is already split at the added tokens whose
   * `normalized` is false. This function finds the other added tokens, in the normalized part.
   */
  function addContent(text: string, ids: number[], enough: number): void {
    if (ids.length > enough) return;
    const normalized = normalize(text);
    splitAtAdded(
      textOf(normalized),
      findAdded?.(normalized) ?? [],
      (start, end) => ids.length > enough || addIds(normalized, start, end, ids, enough),
      (id) => ids.length > enough || ids.push(id),
    );
  }

  /** Does the same as `addContent`, and appends the places of the tokens. `from` is where the part begins in its text. */
  function addPlacedContent(text: string, from: number, { ids, places, spelled }: Placing): void {
    const origins: Origins = [];
    const normalized = normalize(text, origins);
    const inPart = { ...places, spans: [] as number[] };
    splitAtAdded(
      textOf(normalized),
      findAdded?.(normalized) ?? [],
      (start, end) => addIds(normalized, start, end, ids, Number.POSITIVE_INFINITY, inPart),
      (id, start, end) => {
        ids.push(id);
        addPlace(inPart, [start, end], nextWord(places));
      },
    );
    const before = places.prefixes.length - inPart.spans.length / 2;
    for (let at = 0; at < inPart.spans.length; at += 2) {
      const [start, end] = [inPart.spans[at] as number, inPart.spans[at + 1] as number];
      spelled.push(end - start + (places.prefixes[before + at / 2] as number));
      const begins = origins[2 * start] ?? text.length;
      places.spans.push(from + begins, from + (end > start ? (origins[2 * end - 1] as number) : begins));
    }
  }

  /** Sets the spelled length of unknown words to that of the unknown token. `wordStarts` reads this length only with `namedUnknown`. */
  function withUnknown(
    ids: readonly number[],
    spelled: readonly number[],
    { unknown, namedUnknown }: WordPieceSettings,
  ) {
    if (namedUnknown === undefined) return spelled;
    const { length } = [...(vocabulary.spellingOf(unknown) ?? "")];
    return spelled.map((found, at) => (ids[at] === unknown ? length : found));
  }

  return tokenizerOf({
    vocabulary,
    unknownId: settings.namedUnknown ?? (settings.kind === "byte-level" ? undefined : settings.unknown),
    prefix,
    suffix,
    pair,
    side,
    longestWord,
    // Text after the blank could complete an added token that contains the blank.
    splitsAtBlanks: splitsAtBlanks && !added.some(({ content }) => /\s/.test(content)),
    contentOf(text, enough = Number.POSITIVE_INFINITY) {
      const ids: number[] = [];
      splitAtAdded(
        stringText(text),
        findRaw?.(text) ?? [],
        (start, end) => addContent(text.slice(start, end), ids, enough),
        (id) => ids.length > enough || ids.push(id),
      );
      return ids;
    },
    placedContentOf(text) {
      const placing: Placing = { ids: [], places: noPlaces(), spelled: [] };
      const { ids, places, spelled } = placing;
      splitAtAdded(
        stringText(text),
        findRaw?.(text) ?? [],
        (start, end) => addPlacedContent(text.slice(start, end), start, placing),
        (id, start, end) => {
          ids.push(id);
          const [before, after] = trimming ? whiteSpaceAround(text.slice(start, end)) : [0, 0];
          addPlace(places, [start + before, end - after], nextWord(places));
          spelled.push([...text.slice(start, end)].length);
        },
      );
      if (trimming) trimSpaces(places, text, trimming.trimKeepsSpace ?? trimming.prefixSpace);
      return { ids, ...places, ...(settings.kind === "wordpiece" && { spelled: withUnknown(ids, spelled, settings) }) };
    },
  });
}
