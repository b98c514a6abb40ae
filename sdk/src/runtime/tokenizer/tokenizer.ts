import type { TokenIds } from "../engine/engine.ts";

export interface Tokenizer {
  /**
   * Encodes a text.
   *
   * @param maxTokens maximum number of ids, including special tokens; longer content is truncated
   * @returns `ids`, the token ids, and `tokens`, the number of token ids before truncation. If a text is very long,
   *   only its beginning is read. Then `tokens` can differ from the real number, but it is larger than `maxTokens`.
   */
  encode(text: string, maxTokens: number): { ids: TokenIds; tokens: number };
}

/** The parts that differ between tokenizers. */
export interface TokenizerParts {
  /** Special token ids before and after every text: [CLS] and [SEP], or <s> and </s>. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** Words with more characters than this become one unknown token. */
  readonly longestWord: number;
  /**
   * Returns a text's token ids, without special tokens and without truncation. Takes time linear in the text's length.
   */
  contentOf(text: string): number[];
}

/**
 * Creates a tokenizer that first reads only the beginning of a long text. This beginning can end inside a word. Then
 * the ids of the last word can be wrong, but a word has at most `longestWord` ids. If truncation to `maxTokens` removes
 * more than `longestWord` ids, it removes all wrong ids. Otherwise the tokenizer reads the whole text.
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
