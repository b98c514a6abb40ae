import type { TokenIds } from "../engine/engine.ts";

export interface Tokenizer {
  /**
   * Encodes a text.
   *
   * @param maxTokens maximum number of ids, including special tokens; longer content is truncated
   * @returns `ids`, and `tokens`, the number of ids before truncation. A very long text is not read to its end; then
   *   `tokens` is only some number above `maxTokens`.
   */
  encode(text: string, maxTokens: number): { ids: TokenIds; tokens: number };
}

/** The parts that differ between tokenizers. */
export interface TokenizerParts {
  /** Special token ids before and after every text: [CLS] and [SEP], or <s> and </s>. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** Maximum characters of a word that is split; a longer word is one unknown token. */
  readonly longestWord: number;
  /** Returns a text's token ids, without special tokens and without truncation. Takes time linear in the text's length. */
  contentOf(text: string): number[];
}

/**
 * Creates a tokenizer that reads only as much of a text as it needs. A word has at most one token per character. The start
 * of a text is therefore enough if it has more tokens than fit, not counting those of a word that may be cut at its end.
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
