import type { VocabularyText } from "../vocabulary-text.ts";
import type { AddedTokenFinder, SplittableText } from "./added-tokens.ts";
import type { Origins, TokenPlaces } from "./token-places.ts";

/** A tokenizer algorithm: WordPiece, BPE, byte-level BPE or Unigram. `T` is the type of its normalized texts. */
export interface TokenizerAlgorithm<T> {
  /** Words with more characters than this become one unknown token. Infinite for algorithms without a limit. */
  readonly longestWord: number;
  /** Whether a blank between two words ends a word. Otherwise tokens can contain blanks. */
  readonly splitsAtBlanks: boolean;
  /** @param origins receives the origin of each unit of the normalized text */
  normalize(text: string, origins?: Origins): T;
  /** Returns a normalized text in the form that `splitAtAdded` reads. */
  textOf(normalized: T): SplittableText;
  /** Finds added tokens in a normalized text; undefined if there are none to find. */
  readonly findAdded: AddedTokenFinder<T> | undefined;
  /**
   * Appends the token ids of a normalized text's part from `start` to `end` (exclusive). The part must not be empty.
   *
   * @param enough after more ids than this, the rest of the part may be left out
   * @param places receives the place of each token in the normalized text
   */
  addIds(normalized: T, start: number, end: number, ids: number[], enough: number, places?: TokenPlaces): void;
  /** The tokens as texts. */
  readonly vocabulary: VocabularyText;
}
