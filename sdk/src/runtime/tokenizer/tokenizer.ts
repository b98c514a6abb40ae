import type { TokenIds } from "../engine/engine.ts";

export interface Tokenizer {
  /**
   * Encodes a text.
   *
   * @param maxTokens maximum number of ids, including special tokens; longer content is truncated
   * @returns `ids`, the token ids, and `tokens`, their number before truncation. A very long text is not read to its end.
   *   In this case, `tokens` is only some number larger than `maxTokens`.
   */
  encode(text: string, maxTokens: number): { ids: TokenIds; tokens: number };
}

/** The parts that differ between tokenizers. */
export interface TokenizerParts {
  /** Special token ids before and after every text: [CLS] and [SEP], or <s> and </s>. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** Maximum characters of a word that is split into tokens. A longer word becomes one unknown token. */
  readonly longestWord: number;
  /** Returns a text's token ids, without special tokens and without truncation. Takes time linear in the text's length. */
  contentOf(text: string): number[];
}

/**
 * Creates a tokenizer that reads only as much of a text as it needs. The start of a text is enough if it has more tokens
 * than `maxTokens` allows. The tokens of its last word do not count, because the word may be cut there. A word has at most
 * one token per character, so these are at most `longestWord` tokens.
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
