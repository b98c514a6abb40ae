import type { TokenIds } from "../engine/engine.ts";

export interface Tokenizer {
  /**
   * @param maxTokens maximum number of ids, special tokens included; content beyond it is cut off
   * @returns `ids`, and `tokens`, their number without the cut. Very long texts are not read to their end; then `tokens` is
   *   only some number above `maxTokens`.
   */
  encode(text: string, maxTokens: number): { ids: TokenIds; tokens: number };
}

/** The parts in which tokenizers differ. */
export interface TokenizerParts {
  /** Ids before and after every text: [CLS] and [SEP], or <s> and </s>. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** Characters of the longest word that is split; longer words are one unknown token. */
  readonly longestWord: number;
  /** Returns a text's ids, uncut and without special tokens around them, in time linear in the text's length. */
  contentOf(text: string): number[];
}

/**
 * Creates a tokenizer that reads no more of a text than it needs. A word has at most one token per character, so a beginning
 * is enough if it has more tokens than fit, even without those of a word that is cut at its end.
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
