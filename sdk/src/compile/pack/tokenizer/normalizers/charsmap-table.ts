import type { CodePointTable } from "../../../../runtime/tokenizer/packed/code-points.ts";
import { type Charsmap, NO_RESULT } from "../../../../runtime/tokenizer/packed/normalizers/charsmap.ts";
import { CLASS_BITS, graphemeClasses } from "../../../../runtime/tokenizer/packed/normalizers/grapheme-classes.ts";
import { codePointNumbers, pagesWithBorders } from "../code-point-classes.ts";
import { codePointPages, numberOfKey, pagesWith, pageText } from "../code-point-pages.ts";

/** Returns the text that replaces a character. */
export type CharacterMap = (character: string) => string;

/**
 * A charsmap: the replacements that SentencePiece makes when it normalizes a text. The key is the replaced text, one or
 * two characters.
 */
type CharsmapEntries = ReadonlyMap<string, string>;

/** Maximum UTF-8 bytes of a grapheme that is looked up as a whole. Longer graphemes are looked up by character. */
const MAX_KEY_BYTES = 5;

/**
 * Reads a charsmap, without the keys that Hugging Face's tokenizers never use. The tokenizers look up a grapheme of at
 * most five bytes, or a single character. They take the shortest key that the looked-up text begins with.
 *
 *     length of units    u32, little-endian: number of bytes
 *     units              u32 each: a double-array trie of the keys' bytes
 *     results            UTF-8, each ended by a zero byte
 *
 * https://github.com/huggingface/spm_precompiled/blob/main/src/lib.rs,
 * https://github.com/s-yata/darts-clone/blob/master/include/darts.h
 *
 * @returns undefined if the charsmap is damaged, or if `isSupported` returns false for a key
 */
export function readCharsmap(bytes: Uint8Array<ArrayBuffer>): CharsmapEntries | undefined {
  if (bytes.length < 4) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = view.getUint32(0, true) >> 2;
  const end = 4 + 4 * count;
  if (count === 0 || end > bytes.length) return undefined;
  const units = Uint32Array.from({ length: count }, (_, i) => view.getUint32(4 + 4 * i, true));
  const blob = bytes.subarray(end);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  const results = new Map<string, string>();
  const key: number[] = [];
  let nodes = 0;
  /**
   * Adds the keys below a node. Returns false if more nodes than units were visited, because the trie is damaged then.
   */
  const collect = (node: number): boolean => {
    const unit = units[node] as number;
    const children = node ^ ((unit >>> 10) << ((unit & 0x200) >> 6));
    if ((unit & 0x100) !== 0) {
      const start = (units[children] ?? 0) & 0x7fffffff;
      const zero = blob.indexOf(0, start);
      const result = blob.subarray(start, zero < 0 ? blob.length : zero);
      results.set(decoder.decode(Uint8Array.from(key)), decoder.decode(result));
      return true;
    }
    if (key.length === MAX_KEY_BYTES) return true;
    for (let byte = 1; byte < 256; byte++) {
      const child = children ^ byte;
      if (((units[child] ?? 0) & 0x800000ff) !== byte) continue;
      key.push(byte);
      if (++nodes > count || !collect(child)) return false;
      key.pop();
    }
    return true;
  };
  try {
    decoder.decode(blob);
    return collect(0) && [...results.keys()].every(isSupported) ? results : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a key has one character, or two characters of which neither is above U+FFFF. */
const isSupported = (key: string): boolean => Array.from(key).length === 1 || key.length === 2;

import graphemes from "./rust-graphemes.json" with { type: "json" };

/** Grapheme class of each code point; 0 is `OTHER`. */
const classOf = codePointNumbers(
  Object.entries(graphemes.classes).map(([name, ranges]) => [
    graphemeClasses[name as keyof typeof graphemes.classes],
    ranges,
  ]),
);

/** First code points of the pages whose characters have several grapheme classes. */
const mixedPages = pagesWithBorders(Object.values(graphemes.classes));

/** The texts that replace characters, for all character tables of a tokenizer. */
interface Results {
  readonly texts: readonly string[];
  /** Returns the index of a text. */
  indexOf(text: string): number;
}

export function createResults(): Results {
  const texts = [""];
  const known = new Map([["no result", NO_RESULT]]);
  return { texts, indexOf: (text) => numberOfKey(known, `=${text}`, () => texts.push(text)) };
}

/** Builds the table and the pairs of `Charsmap`. */
export function charsmapTable(
  entries: CharsmapEntries,
  results: Results,
): Pick<Charsmap, "points" | "pairs" | "pairResults"> {
  const single = new Map<number, number>();
  const pairs: { readonly pair: number; readonly result: number }[] = [];
  for (const [key, content] of entries) {
    const result = results.indexOf(content);
    const [first, second] = Array.from(key, (character) => character.codePointAt(0)) as [number, number?];
    if (second === undefined) single.set(first, result);
    else pairs.push({ pair: first * 2 ** 16 + second, result });
  }
  pairs.sort((a, b) => a.pair - b.pair);
  const mapped = pagesWith(single.keys());
  const points = codePointPages(
    (point) => ((single.get(point) ?? NO_RESULT) << CLASS_BITS) | (classOf[point] as number),
    (first) => !mixedPages.has(first) && !mapped.has(first),
  );
  return {
    points,
    pairs: Uint32Array.from(pairs, ({ pair }) => pair),
    pairResults: Uint32Array.from(pairs, ({ result }) => result),
  };
}

/** Builds the table for a map that replaces one character at a time. */
export function eachTable(map: CharacterMap, results: Results): CodePointTable {
  const mapped = (point: number): number => {
    const character = String.fromCodePoint(point);
    const content = map(character);
    return (content === character ? NO_RESULT : results.indexOf(content)) << CLASS_BITS;
  };
  const isKept = (first: number): boolean => {
    for (const character of pageText(first)) if (map(character) !== character) return false;
    return true;
  };
  return codePointPages(mapped, isKept);
}
