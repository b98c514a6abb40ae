import { contentFinder, stringText } from "../added-tokens.ts";
import type { TokenizerAlgorithm } from "../algorithm.ts";
import { createLongWordMerger } from "../byte-level/long-words.ts";
import { createUnitMerger, type Units } from "../byte-level/merge-bytes.ts";
import { openMerges } from "../byte-level/merges.ts";
import { idsInParts } from "../byte-level/text-parts.ts";
import { openCodePoints } from "../code-points.ts";
import { isAtBlanks } from "../normalizers/at-blanks.ts";
import { openTable } from "../normalizers/charsmap.ts";
import { openNormalizer } from "../normalizers/open-normalizer.ts";
import { checkIds, type PackedFile } from "../packed-file.ts";
import type { BpeSettings, NormalizerStep } from "../packed-settings.ts";
import { addPlace, nextWord } from "../token-places.ts";
import { bpeText } from "./bpe-text.ts";
import { charactersInto } from "./character-units.ts";

/** Maximum tokens per UTF-16 code unit, when a character becomes bytes. */
const MAX_UNITS = 3;
/** Size in tokens of the array that words of usual length share. */
const KEPT = 4096;
/** Maximum UTF-16 code units of a word that is merged as a whole. */
const LONG_WORD = 2 ** 14;
/** ▁, which stands for a blank in tokens. */
const MARK = "▁";

/** Whether a normalizer step can replace a letter or digit next to a blank, or the blank itself by anything but ▁. */
const isAtWords = (step: NormalizerStep): boolean =>
  isAtBlanks(step) && !(step.type === "replace" && step.from === " " && step.content === MARK);

/**
 * Creates BPE over characters, as SentencePiece trains it: Gemma's and Llama 2's algorithm. Characters that are no token become the
 * unknown token, or the tokens of their bytes.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createBpe(
  { settings, arrays }: PackedFile<BpeSettings>,
  vocabularySize: number,
): TokenizerAlgorithm<string> {
  const { normalizers, added, unknown = 0, fusesUnknown, metaspace, splits, parts, ignoresMerges } = settings;
  const classes = openTable(arrays, 0);
  const characters = openCodePoints({ pageOf: arrays.codePageOf, pages: arrays.codePages });
  const merges = openMerges(arrays, vocabularySize);
  const firstIds = new Set(characters.pages);
  firstIds.delete(0);
  const firsts = [...Array.from(firstIds, (number) => number - 1), ...merges.byteIds, unknown];
  checkIds([...firsts, ...settings.whole.map(([, id]) => id)], vocabularySize);
  const tokens = { characters, byteIds: merges.byteIds, unknown };
  const merge = createUnitMerger(merges);
  const mergeLong = createLongWordMerger(merges, merge, {
    create: (length) => new Uint32Array(length),
    encodeInto: (text, units) => charactersInto(tokens, text, units),
    firstIds: firsts,
  });
  const whole = new Map(ignoresMerges ? settings.whole : []);
  const kept = new Uint32Array(KEPT);

  /** Adds the tokens of a word. `starts` receives the index of each token's first unit, `spans` the start and end of each unit. */
  function addWord(word: string, ids: number[], enough: number, starts?: number[], spans?: number[]): void {
    const isLong = word.length > LONG_WORD;
    let [units, length]: [Units, number] = [kept, 0];
    if (!isLong || spans) {
      if (MAX_UNITS * word.length > KEPT) units = new Uint32Array(MAX_UNITS * word.length);
      length = charactersInto(tokens, word, units, spans).written;
    }
    const before = ids.length;
    const token = whole.get(word);
    if (token !== undefined) {
      ids.push(token);
      starts?.push(0);
    } else if (isLong) mergeLong(word, ids, fusesUnknown ? Number.POSITIVE_INFINITY : enough, starts);
    else merge(units, length, ids, starts);
    if (fusesUnknown) fuseUnknown(unknown, ids, before, starts);
  }

  /** Returns the end of the word that begins at `at`. */
  function wordEnd(text: string, at: number): number {
    if (!splits) return text.length;
    let end = text.indexOf(MARK, at + 1);
    while (splits === "runs" && end > 0 && text.charAt(end - 1) === MARK) end = text.indexOf(MARK, end + 1);
    return end < 0 ? text.length : end;
  }

  const addPart: TokenizerAlgorithm<string>["addIds"] = (normalized, start, end, ids, enough, places) => {
    const part = normalized.slice(start, end);
    const marked = metaspace ? part.replaceAll(" ", MARK) : part;
    const isPrefixed = metaspace?.prefixSpace === true && !marked.startsWith(MARK);
    const text = isPrefixed ? MARK + marked : marked;
    const shift = isPrefixed ? start - 1 : start;
    /** Turns a position in `text` into one in the normalized text. An added ▁ has the place of the character after it. */
    const placeOf = (at: number, atEnd: boolean): number => {
      const isPrefix = isPrefixed && at === (atEnd ? 1 : 0);
      return isPrefix ? start + (atEnd ? String.fromCodePoint(text.codePointAt(1) as number).length : 0) : shift + at;
    };
    let index = places ? nextWord(places) : 0;
    for (let at = 0; at < text.length && ids.length <= enough; ) {
      const next = wordEnd(text, at);
      const starts: number[] | undefined = places && [];
      const spans: number[] | undefined = places && [];
      addWord(text.slice(at, next), ids, enough, starts, spans);
      if (places && starts && spans) {
        starts.forEach((first, token) => {
          const last = (starts[token + 1] ?? spans.length / 2) - 1;
          const [from, to] = [at + (spans[2 * first] as number), at + (spans[2 * last + 1] as number)];
          addPlace(places, [placeOf(from, false), placeOf(to, true)], index);
        });
        if (splits === "each") index++;
      }
      at = next;
    }
  };

  return {
    vocabulary: bpeText(settings, tokens, merges),
    longestWord: Number.POSITIVE_INFINITY,
    splitsAtBlanks: (splits !== undefined || parts?.separates === true) && !normalizers.some(isAtWords),
    normalize: openNormalizer(normalizers, arrays),
    textOf: stringText,
    findAdded: contentFinder(added.filter(({ normalized }) => normalized)),
    addIds: idsInParts(classes, parts, addPart),
  };
}

/**
 * Replaces each run of unknown tokens by one token, from the token `from` on.
 *
 * @param starts start of each token, beginning with the token `from`
 */
export function fuseUnknown(unknown: number, ids: number[], from: number, starts?: number[]): void {
  let end = from;
  for (let at = from; at < ids.length; at++) {
    if (at > from && ids[at] === unknown && ids[end - 1] === unknown) continue;
    if (starts) starts[end - from] = starts[at - from] as number;
    ids[end++] = ids[at] as number;
  }
  ids.length = end;
  if (starts) starts.length = end - from;
}
