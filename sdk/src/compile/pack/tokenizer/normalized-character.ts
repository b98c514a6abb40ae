import { CLASS_SHIFT, DROPPED, ISOLATED, SPACE, WORD } from "../../../runtime/tokenizer/packed/character.ts";
import { isWhiteSpace, isWordCharacter } from "../../../runtime/tokenizer/packed/character-classes.ts";
import { CODE_POINTS } from "../../../runtime/tokenizer/packed/code-points.ts";
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
  const lowered = normalizer.lowercase ? stripped.flatMap(lowerCase) : stripped;
  const flagged = lowered.map(([each, bits]): Normalized => [each, bits | flagsOf(each)]);
  return isSpaced(normalizer, point) ? [SPACING, ...flagged, SPACING] : flagged;
}

/** Whether a code point gets spaces around it: an ideograph. */
export const isSpaced = ({ handle_chinese_chars }: Normalizer, point: number): boolean =>
  handle_chinese_chars && classes.ideographs.has(point);

/** The lower case of a character, which can be several characters. */
function lowerCase(normalized: Normalized): Normalized[] {
  const [character, bits] = normalized;
  const lower = character.toLowerCase();
  return lower === character ? [normalized] : Array.from(lower, (one) => [one, bits]);
}

/** Decomposed, without nonspacing marks. */
function withoutAccents(character: string): Normalized[] {
  const point = character.codePointAt(0) as number;
  const decomposed = classes.undecomposed.has(point) ? character : character.normalize("NFD");
  if (decomposed === character) return withoutMark(character);
  return Array.from(decomposed).flatMap(withoutMark);
}

/** A character that has no decomposition, or nothing if it is a nonspacing mark. */
function withoutMark(character: string): Normalized[] {
  const point = character.codePointAt(0) as number;
  if (classes.nonspacingStarters.has(point)) return [[character, DROPPED]];
  return classes.nonspacing.has(point) ? [] : [[character, (combiningClass.get(point) ?? 0) << CLASS_SHIFT]];
}

function flagsOf(character: string): number {
  if (isWhiteSpace(character)) return SPACE;
  const isolated = classes.punctuation.has(character.codePointAt(0) as number) ? ISOLATED : 0;
  return isolated | (isWordCharacter(character) ? WORD : 0);
}

/** What is known of each code point: 0 is nothing yet. Packing a second tokenizer in a process takes a third of the time. */
const known = new Uint8Array(CODE_POINTS);
const CHANGES = 1;
const STAYS = 2;
const STAYS_WORD = 3;

/**
 * Returns the bits of a code point that becomes itself in every normalizer, apart from spaces around ideographs. Most code
 * points do, and need no `normalizedCharacter`. Returns undefined for the others.
 */
export function bitsOfUnchanged(point: number): number | undefined {
  known[point] ||= kindOf(point);
  return known[point] === CHANGES ? undefined : known[point] === STAYS_WORD ? WORD : 0;
}

const special = [classes.removed, classes.nonspacing, classes.nonspacingStarters, classes.punctuation, combiningClass];

function kindOf(point: number): number {
  const character = String.fromCodePoint(point);
  const changes =
    special.some((points) => points.has(point)) ||
    isWhiteSpace(character) ||
    character.toLowerCase() !== character ||
    character.normalize("NFD") !== character;
  if (changes) return CHANGES;
  return isWordCharacter(character) ? STAYS_WORD : STAYS;
}
