import { isWhiteSpace, isWordCharacter } from "../../../../runtime/tokenizer/packed/character-classes.ts";
import {
  CLASS_SHIFT,
  DROPPED,
  GROUP_SHIFT,
  ISOLATED,
  SPACE,
  WORD,
} from "../../../../runtime/tokenizer/packed/word-piece/character.ts";
import { classes, combiningClassOf } from "../code-point-classes.ts";
import type { BreakKind } from "../word-breaks.ts";
import type { NormalizerOptions } from "./normalizer-options.ts";

/** A normalized character. `bits` are the flags and the combining class that are stored with the character's code. */
type NormalizedCharacter = readonly [character: string, bits: number];

export interface CharacterOptions extends NormalizerOptions {
  readonly breakKind: (character: string) => BreakKind;
  /** Whether characters of plain pages can have different breaks. */
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
