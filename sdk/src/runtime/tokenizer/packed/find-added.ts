import { type Automaton, follow, longestWord, START } from "./automaton.ts";
import { type Character, SPACE, WORD } from "./character.ts";
import { isWhiteSpace, isWordCharacter } from "./character-classes.ts";
import type { AddedToken, Header } from "./packed-file.ts";
import type { Found, Text } from "./split-added.ts";

/** Finds added tokens in a text; undefined where there are none to be found. */
export type Finder<T> = ((text: T) => Iterable<Found>) | undefined;

export const rawText = (text: string): Text => ({
  length: text.length,
  isSpace: (at) => isWhiteSpace(text.charAt(at)),
  isWordAt: (at) => isWordCharacter(String.fromCodePoint(text.codePointAt(at) ?? 0)),
  isWordBefore: (at) => isWordCharacter(Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? ""),
});

export const normalisedText = (symbols: readonly Character[]): Text => {
  const has = (at: number, flag: number) => ((symbols[at] ?? 0) & flag) !== 0;
  return {
    length: symbols.length,
    isSpace: (at) => has(at, SPACE),
    isWordAt: (at) => has(at, WORD),
    isWordBefore: (at) => has(at - 1, WORD),
  };
};

/** Those that are found in the text as it comes. */
export function rawFinder({ added }: Header): Finder<string> {
  const tokens = new Map(added.filter(({ normalized }) => !normalized).map((token) => [token.content, token]));
  if (tokens.size === 0) return undefined;
  // The first alternative that matches is taken: a token must come after those that it begins.
  const contents = [...tokens.keys()].sort().reverse();
  const pattern = new RegExp(contents.map((content) => content.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), "g");
  return function* (text) {
    for (const { 0: content, index } of text.matchAll(pattern)) {
      yield { token: tokens.get(content) as AddedToken, start: index, end: index + content.length };
    }
  };
}

/** Those that are found in the normalised text. */
export function normalisedFinder({ added, addedCode }: Header, automaton: Automaton): Finder<readonly Character[]> {
  const first = follow(automaton, START, addedCode);
  if (!first) return undefined;
  const tokens = new Map(added.map((token) => [token.id, token]));
  return function* (symbols) {
    for (let at = 0; at < symbols.length; ) {
      const match = longestWord(automaton, first, symbols, at, symbols.length);
      const token = match && tokens.get(match.id);
      if (token) yield { token, start: at, end: match.end };
      at = match?.end ?? at + 1;
    }
  };
}
