import type { AddedTokenFinder, SplittableText } from "./added-tokens.ts";

/** A tokenizer algorithm: WordPiece, byte-level BPE or Unigram. `T` is the type of its normalized texts. */
export interface TokenizerAlgorithm<T> {
  /** Words with more characters than this become one unknown token. Infinite for algorithms without a limit. */
  readonly longestWord: number;
  normalize(text: string): T;
  /** Returns a normalized text in the form that `splitAtAdded` reads. */
  textOf(normalized: T): SplittableText;
  /** Finds added tokens in a normalized text; undefined if there are none to find. */
  readonly findAdded: AddedTokenFinder<T> | undefined;
  /**
   * Appends the token ids of a normalized text's part from `start` to `end` (exclusive). The part must not be empty.
   */
  addIds(normalized: T, start: number, end: number, ids: number[]): void;
}
