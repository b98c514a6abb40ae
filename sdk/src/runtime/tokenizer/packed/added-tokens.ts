import { isWhiteSpace, isWordCharacter } from "./character-classes.ts";
import type { AddedToken } from "./packed-settings.ts";

/**
 * A text that `splitAtAdded` can split. Tokenizer kinds store normalized texts in different ways, as strings or as arrays.
 */
export interface SplittableText {
  readonly length: number;
  isSpace(at: number): boolean;
  /** Whether a word character (letter, mark, digit or connector) begins at `at`. */
  isWordAt(at: number): boolean;
  /** Whether a word character ends just before `at`. */
  isWordBefore(at: number): boolean;
}

/** An added token in a text. `start` is inclusive, `end` is exclusive. */
export interface FoundToken {
  readonly token: AddedToken;
  readonly start: number;
  readonly end: number;
}

/** Finds added tokens from left to right, without overlaps. At each position, the longest token wins. */
export type AddedTokenFinder<T> = (text: T) => Iterable<FoundToken>;

export const stringText = (text: string): SplittableText => ({
  length: text.length,
  isSpace: (at) => isWhiteSpace(text.charAt(at)),
  isWordAt: (at) => isWordCharacter(String.fromCodePoint(text.codePointAt(at) ?? 0)),
  isWordBefore: (at) => isWordCharacter(Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? ""),
});

/** Creates a finder that searches a string for the text of added tokens. Returns undefined if there are no tokens. */
export function contentFinder(added: readonly AddedToken[]): AddedTokenFinder<string> | undefined {
  if (added.length === 0) return undefined;
  const tokens = new Map(added.map((token) => [token.content, token]));
  // A regular expression takes the first alternative that matches, so a token must come before all tokens that are its
  // prefixes.
  const contents = [...tokens.keys()].sort().reverse();
  const pattern = new RegExp(contents.map((content) => content.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), "g");
  return function* (text) {
    for (const { 0: content, index } of text.matchAll(pattern)) {
      yield { token: tokens.get(content) as AddedToken, start: index, end: index + content.length };
    }
  };
}

/**
 * Splits a text at its added tokens, as `find_matches` does in
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/added_vocabulary.rs.
 *
 * @param found tokens from left to right, without overlaps
 * @param onText called for each part between tokens
 * @param onToken called for each token, except those that `singleWord` excludes
 */
export function splitAtAdded(
  text: SplittableText,
  found: Iterable<FoundToken>,
  onText: (start: number, end: number) => unknown,
  onToken: (id: number, start: number, end: number) => unknown,
): void {
  let done = 0;
  for (const { token, start, end } of found) {
    if (token.singleWord && (text.isWordBefore(start) || text.isWordAt(end))) continue;
    let [from, to] = [start, end];
    if (token.lstrip) while (from > done && text.isSpace(from - 1)) from--;
    if (token.rstrip) while (to < text.length && text.isSpace(to)) to++;
    if (done < from) onText(done, from);
    onToken(token.id, from, to);
    done = to;
  }
  if (done < text.length) onText(done, text.length);
}
