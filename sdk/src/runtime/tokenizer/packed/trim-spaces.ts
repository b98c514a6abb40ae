import { ONLY_SPACES } from "./byte-level/byte-places.ts";
import type { TokenPlaces } from "./token-places.ts";

/** Counts the white space at the start and at the end of an added token in a text. */
export const whiteSpaceAround = (token: string): [before: number, after: number] => [
  token.length - token.trimStart().length,
  token.length - token.trimEnd().length,
];

/**
 * Leaves spaces out of the places of tokens. If `keepsSpace` is set, the first token keeps one of its spaces.
 * `process_offsets` does the same in
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/pre_tokenizers/byte_level.rs
 */
export function trimSpaces({ spans, spaces }: TokenPlaces, text: string, keepsSpace: boolean): void {
  for (let at = 0; at < spans.length; at += 2) {
    const [start, end] = [spans[at] as number, spans[at + 1] as number];
    const [before, after] = [spaces[at] as number, spaces[at + 1] as number];
    const keepsOne = before > 0 && keepsSpace && (at === 0 || start === 0);
    const first = start + before - (keepsOne ? 1 : 0);
    // An added space has the place of the character after it. The start must not split this character if it has two units.
    const trimmed = Math.min(first > start && isLowSurrogate(text.charCodeAt(first)) ? first + 1 : first, end);
    spans[at] = trimmed;
    spans[at + 1] = after === ONLY_SPACES ? trimmed : Math.max(end - after, trimmed);
  }
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
