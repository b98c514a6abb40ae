import type { Side } from "../truncation.ts";
import type { PairTokens } from "./pair-tokens.ts";
import type { VocabularyText } from "./vocabulary-text.ts";

/** Token ids of a text without special tokens, and their places in the text. */
export interface PlacedContent {
  readonly ids: readonly number[];
  /** UTF-16 start and end of each token: [2 × ids] */
  readonly spans: readonly number[];
  /** Index of each token's word: [ids] */
  readonly words: readonly number[];
  /** Number of code points of each token as the vocabulary spells it: [ids] */
  readonly spelled?: readonly number[];
}

/** The parts that differ between tokenizers. */
export interface TokenizerParts {
  readonly vocabulary: VocabularyText;
  readonly unknownId?: number | undefined;
  /** Special token ids before and after every text: [CLS] and [SEP], or <s> and </s>. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  /** Special token ids around two texts; undefined if the tokenizer cannot encode pairs. */
  readonly pair?: PairTokens | undefined;
  /** End at which texts that are too long are cut by default. Default: the right. */
  readonly side?: Side | undefined;
  /** Words with more characters than this become one unknown token. Infinite without such a limit. */
  readonly longestWord: number;
  /** Whether a blank between two words separates tokens: the text after it never changes the tokens before it. */
  readonly splitsAtBlanks: boolean;
  /**
   * Returns a text's token ids, without special tokens and without truncation. Takes time linear in the text's length.
   *
   * @param enough after more ids than this, the others may be left out
   */
  contentOf(text: string, enough?: number): number[];
  /** Returns the ids of `contentOf`, and their places; undefined if the tokenizer cannot find places. */
  placedContentOf?: ((text: string) => PlacedContent) | undefined;
}
