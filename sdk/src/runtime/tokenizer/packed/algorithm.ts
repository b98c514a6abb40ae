import type { AddedTokenFinder, SplittableText } from "./added-tokens.ts";

/** A tokenizer algorithm: WordPiece, byte-level BPE or Unigram. `T` is the type of a normalized text. */
export interface TokenizerAlgorithm<T> {
  /** Characters of the longest word that is split; infinite for algorithms without a limit. */
  readonly longestWord: number;
  normalize(text: string): T;
  /** Returns the view of a normalized text that is split at added tokens. */
  textOf(normalized: T): SplittableText;
  /** Finds added tokens in a normalized text; undefined where there are none. */
  readonly findAdded: AddedTokenFinder<T> | undefined;
  /** Appends the ids of a part of a normalized text; the part is not empty. */
  addIds(normalized: T, start: number, end: number, ids: number[]): void;
}
