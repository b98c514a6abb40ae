import { isWhiteSpace, isWordCharacter } from "../../../../runtime/tokenizer/packed/character-classes.ts";
import {
  CLASS_SHIFT,
  DROPPED,
  ISOLATED,
  SPACE,
  WORD,
} from "../../../../runtime/tokenizer/packed/word-piece/character.ts";
import { classes, combiningClassOf } from "../code-point-classes.ts";
import type { BertNormalizer } from "./word-piece-json.ts";

/** A normalized character. `bits` are the flags and the combining class that are stored with the character's code. */
type NormalizedCharacter = readonly [character: string, bits: number];

export interface NormalizerOptions {
  /**
   * Whether word characters get the flag `WORD`. Only some added tokens need this flag, and it makes the tables larger.
   */
  readonly marksWords: boolean;
}

const SPACING: NormalizedCharacter = [" ", SPACE];

export const stripsAccents = ({ strip_accents, lowercase }: BertNormalizer): boolean => strip_accents ?? lowercase;

/**
 * Returns a function that normalizes a character in the same way as
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/normalizers/bert.rs.
 */
export function createNormalizer(
  normalizer: BertNormalizer,
  { marksWords }: NormalizerOptions,
): (character: string) => NormalizedCharacter[] {
  const removesAccents = stripsAccents(normalizer);

  const withFlags = (character: string, bits: number): NormalizedCharacter => {
    if (isWhiteSpace(character)) return [character, bits | SPACE];
    const isolated = classes.punctuation.has(character.codePointAt(0) as number) ? ISOLATED : 0;
    return [character, bits | isolated | (marksWords && isWordCharacter(character) ? WORD : 0)];
  };

  return (character) => {
    const point = character.codePointAt(0) as number;
    if (normalizer.clean_text && classes.removed.has(point)) return [];
    const cleaned = normalizer.clean_text && isWhiteSpace(character) ? " " : character;
    const normalized: NormalizedCharacter[] = [];
    for (const [part, bits] of removesAccents ? withoutAccents(cleaned) : [[cleaned, 0] as const]) {
      for (const lower of normalizer.lowercase ? part.toLowerCase() : part) normalized.push(withFlags(lower, bits));
    }
    return normalizer.handle_chinese_chars && classes.ideographs.has(point)
      ? [SPACING, ...normalized, SPACING]
      : normalized;
  };
}

/** Decomposes a character and removes the nonspacing marks. */
function withoutAccents(character: string): NormalizedCharacter[] {
  const point = character.codePointAt(0) as number;
  const parts: NormalizedCharacter[] = [];
  for (const part of classes.undecomposed.has(point) ? character : character.normalize("NFD")) {
    const partPoint = part.codePointAt(0) as number;
    if (classes.nonspacingStarters.has(partPoint)) parts.push([part, DROPPED]);
    else if (!classes.nonspacing.has(partPoint)) parts.push([part, combiningClassOf(partPoint) << CLASS_SHIFT]);
  }
  return parts;
}
