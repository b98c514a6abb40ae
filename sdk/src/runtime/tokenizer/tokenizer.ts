import type { TokenIds } from "../engine/engine.ts";

export interface Tokenizer {
  /**
   * @param maxTokens the longest result, special tokens included; content beyond it is cut off
   * @returns `ids`, and `tokens`: how many there would be uncut; of a text far too long, a number that is too large
   *   already
   */
  encode(text: string, maxTokens: number): { ids: TokenIds; tokens: number };
}

/** What tokenizers differ in. */
export interface TokenizerParts {
  /** Ids put before and after every text: [CLS] and [SEP], or <s> and </s>. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** Characters of the longest word that is split; longer ones are one unknown token. */
  readonly longestWord: number;
  /** A text's ids, uncut and without special tokens around them, in time linear in the text's length. */
  contentOf(text: string): number[];
}

/**
 * A word has at most as many tokens as characters. So a text is not read to its end when its beginning gives more tokens
 * than there is room for, and one cut word's more.
 */
export function tokenizerOf({ prefix, suffix, longestWord, contentOf }: TokenizerParts): Tokenizer {
  const specials = prefix.length + suffix.length;
  return {
    encode(text, maxTokens) {
      const room = maxTokens - specials;
      const head = text.slice(0, (room + longestWord) * longestWord);
      const beginning = contentOf(head);
      const enough = head.length === text.length || beginning.length > room + longestWord;
      const content = enough ? beginning : contentOf(text);
      const kept = content.slice(0, room);
      const ids = new Int32Array(specials + kept.length);
      ids.set(prefix);
      ids.set(kept, prefix.length);
      ids.set(suffix, prefix.length + kept.length);
      return { ids, tokens: content.length + specials };
    },
  };
}
