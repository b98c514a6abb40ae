import { isWhiteSpace, isWordCharacter } from "../../../../runtime/tokenizer/packed/character-classes.ts";
import {
  CLASS_SHIFT,
  DROPPED,
  GROUP_SHIFT,
  ISOLATED,
  SPACE,
  WORD,
} from "../../../../runtime/tokenizer/packed/word-piece/character.ts";
import { type CharacterTable, HANGUL_RESULT } from "../../../../runtime/tokenizer/packed/word-piece/characters.ts";
import { classes, classesOf, combiningClassOf, isPlainInWords, isPlainPage } from "../code-point-classes.ts";
import { codePointPages, numberOfKey, pagesWith } from "../code-point-pages.ts";
import type { BreakKind } from "../word-breaks.ts";
import type { NormalizerOptions } from "./word-piece-json.ts";

const REPLACEMENT = "\ufffd";

/**
 * Builds the table of `runtime/tokenizer/packed/word-piece/characters.ts`.
 *
 * @param codes code of each character in the vocabulary
 */
export function characterTable(codes: ReadonlyMap<string, number>, options: CharacterOptions): CharacterTable {
  const normalize = createNormalizer(options);
  const symbols: number[] = [];
  const resultStart = [0];
  const results = new Map<string, number>([["Hangul", HANGUL_RESULT]]);
  const normalized = (character: string): number => {
    const result = normalize(character).map(([each, bits]) => ((codes.get(each) ?? 0) | bits) >>> 0);
    return numberOfKey(results, result.join(), () => {
      resultStart.push(symbols.length);
      symbols.push(...result);
    });
  };
  const ignoresWords = !options.marksWords && !options.breaksInPlainPages;
  const { decomposes, lowercases } = options;
  const isChanged = (character: string): boolean =>
    (lowercases && character.toLowerCase() !== character) || (decomposes && character.normalize("NFD") !== character);
  // Most characters have no code and stay as they are. Those of the same classes then have the same result.
  const ofClasses = new Map<number, number>();
  const resultOf = (point: number): number => {
    if (decomposes && isHangulSyllable(point)) return HANGUL_RESULT;
    const character = isSurrogate(point) ? REPLACEMENT : String.fromCodePoint(point);
    if (!ignoresWords || codes.has(character) || isWhiteSpace(character) || isChanged(character)) {
      return normalized(character);
    }
    const same = classesOf(character.codePointAt(0) as number);
    const result = ofClasses.get(same) ?? normalized(character);
    ofClasses.set(same, result);
    return result;
  };

  const coded = pagesWith(Array.from(codes.keys(), (character) => character.codePointAt(0) as number));
  const isUniform = ignoresWords ? isPlainPage : isPlainInWords;
  const points = codePointPages(resultOf, (first) => !coded.has(first) && isUniform(first));
  resultStart.push(symbols.length);
  return {
    ...points,
    resultStart: Uint32Array.from(resultStart),
    symbols: Uint32Array.from(symbols),
  };
}

const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;
const isHangulSyllable = (point: number): boolean => point >= 0xac00 && point <= 0xd7a3;

/** A normalized character. `bits` are the flags and the combining class that are stored with the character's code. */
type NormalizedCharacter = readonly [character: string, bits: number];

interface CharacterOptions extends NormalizerOptions {
  readonly breakKind: (character: string) => BreakKind;
  /** Whether characters of one plain page can break differently. */
  readonly breaksInPlainPages: boolean;
  /**
   * Whether word characters get the flag `WORD`. Only some added tokens need this flag, and it makes the tables larger.
   */
  readonly marksWords: boolean;
}

const SPACING: NormalizedCharacter = [" ", SPACE];

/**
 * Returns a function that normalizes a character in the same way as
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/normalizers/bert.rs, or as normalizers with the same steps.
 */
export function createNormalizer(options: CharacterOptions): (character: string) => NormalizedCharacter[] {
  const { cleans, isolatesIdeographs, lowercases, breakKind, marksWords } = options;

  const withFlags = (character: string, bits: number): NormalizedCharacter => {
    if (isWhiteSpace(character)) return [character, bits | SPACE];
    const { isolated, group } = breakKind(character);
    const word = marksWords && isWordCharacter(character) ? WORD : 0;
    return [character, bits | (isolated ? ISOLATED : 0) | (group << GROUP_SHIFT) | word];
  };

  return (character) => {
    const point = character.codePointAt(0) as number;
    if (cleans && classes.removed.has(point)) return [];
    const cleaned = cleans && isWhiteSpace(character) ? " " : character;
    const normalized: NormalizedCharacter[] = [];
    for (const [part, bits] of withoutMarks(cleaned, options)) {
      for (const lower of lowercases ? part.toLowerCase() : part) normalized.push(withFlags(lower, bits));
    }
    return isolatesIdeographs && classes.ideographs.has(point) ? [SPACING, ...normalized, SPACING] : normalized;
  };
}

/** Decomposes a character and removes marks. */
function withoutMarks(character: string, { decomposes, strips }: NormalizerOptions): NormalizedCharacter[] {
  const isDecomposed = decomposes && !classes.undecomposed.has(character.codePointAt(0) as number);
  const parts: NormalizedCharacter[] = [];
  for (const part of isDecomposed ? character.normalize("NFD") : character) {
    const point = part.codePointAt(0) as number;
    const combiningClass = decomposes ? combiningClassOf(point) : 0;
    if (strips === "nothing" || !classes[strips].has(point)) parts.push([part, combiningClass << CLASS_SHIFT]);
    else if (decomposes && combiningClass === 0) parts.push([part, DROPPED]);
  }
  return parts;
}
