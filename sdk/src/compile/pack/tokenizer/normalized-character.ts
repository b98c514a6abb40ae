import { CLASS_SHIFT, DROPPED, ISOLATED, SPACE, WORD } from "../../../runtime/tokenizer/packed/character.ts";
import { isWhiteSpace, isWordCharacter } from "../../../runtime/tokenizer/packed/character-classes.ts";
import type { Normalizer } from "./bert-tokenizer.ts";
import { classes, combiningClass } from "./code-point-classes.ts";

/** A character and the bits that go with its code. */
type Normalized = readonly [character: string, bits: number];

const SPACING: Normalized = [" ", SPACE];

export const stripsAccents = ({ strip_accents, lowercase }: Normalizer): boolean => strip_accents ?? lowercase;

/**
 * What a character becomes in
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/normalizers/bert.rs
 */
export function normalizedCharacter(normalizer: Normalizer, character: string): Normalized[] {
  const point = character.codePointAt(0) as number;
  if (normalizer.clean_text && classes.removed.has(point)) return [];
  const cleaned = normalizer.clean_text && isWhiteSpace(character) ? " " : character;
  const stripped = stripsAccents(normalizer) ? withoutAccents(cleaned) : [[cleaned, 0] as const];
  const lowered = stripped.flatMap(([each, bits]) => {
    const lower = normalizer.lowercase ? each.toLowerCase() : each;
    return Array.from(lower, (one): Normalized => [one, bits | flagsOf(one)]);
  });
  return normalizer.handle_chinese_chars && classes.ideographs.has(point) ? [SPACING, ...lowered, SPACING] : lowered;
}

/** Decomposed, without nonspacing marks. */
function withoutAccents(character: string): Normalized[] {
  const point = character.codePointAt(0) as number;
  const decomposed = classes.undecomposed.has(point) ? character : character.normalize("NFD");
  return Array.from(decomposed).flatMap((each): Normalized[] => {
    const part = each.codePointAt(0) as number;
    if (classes.nonspacingStarters.has(part)) return [[each, DROPPED]];
    return classes.nonspacing.has(part) ? [] : [[each, (combiningClass.get(part) ?? 0) << CLASS_SHIFT]];
  });
}

function flagsOf(character: string): number {
  if (isWhiteSpace(character)) return SPACE;
  const isolated = classes.punctuation.has(character.codePointAt(0) as number) ? ISOLATED : 0;
  return isolated | (isWordCharacter(character) ? WORD : 0);
}
