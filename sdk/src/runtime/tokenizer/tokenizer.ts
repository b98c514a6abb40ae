import type { TokenIds, TokenPair } from "../engine/engine.ts";
import type { Side } from "../truncation.ts";
import type { VocabularyText } from "./vocabulary-text.ts";

export interface Tokenizer {
  /** The tokens as texts. */
  readonly vocabulary: VocabularyText;
  /** Number of special tokens that are put before a text and after it. A text itself can have tokens that are marked as special. */
  readonly around: { readonly before: number; readonly after: number };
  /** Id of the token for words or characters that are not in the vocabulary; undefined if the tokenizer has none. */
  readonly unknownId?: number | undefined;
  /** End at which texts that are too long are cut by default. */
  readonly side: Side;
  /**
   * Encodes a text.
   *
   * @param maxTokens maximum number of ids, including special tokens; longer content is truncated
   * @param side end at which longer content is truncated. Default: the tokenizer's own side
   * @returns `ids`, the token ids, and `tokens`, the number of token ids before truncation. If a text is very long,
   *   only its beginning is read. Then `tokens` can differ from the real number, but it is larger than `maxTokens`.
   * @throws BertEdgeError `input_too_long` if a text of more than 250,000 characters is truncated at its left
   */
  encode(text: string, maxTokens: number, side?: Side): { ids: TokenIds; tokens: number };
  /**
   * Encodes a text, and finds the places of its tokens in the text. Slower than `encode`. The parameters are those of `encode`.
   *
   * @throws BertEdgeError `offsets_unsupported` if the artifact has no packed tokenizer; `input_too_long` if more than
   *   250,000 characters of the text must be read
   */
  encodePlaced(text: string, maxTokens: number, side?: Side): PlacedTokens & { tokens: number };
  /**
   * Encodes a question with a long text in as many sequences as the text needs. Each sequence has the question and the next part of
   * the text. Neighbouring parts overlap by `stride` tokens. The first part is at the end of the text if the tokenizer cuts texts at
   * their left, else at the start. transformers does the same with `truncation="only_second"` and `return_overflowing_tokens`.
   *
   * @param options.maxTokens maximum number of ids of a sequence, including special tokens
   * @param options.maxQuestionTokens maximum number of ids of the question; a longer one is truncated
   * @param options.maxWindows maximum number of sequences. Default: any
   * @throws BertEdgeError `pairs_unsupported`, `offsets_unsupported`; `input_too_long` if a sequence has no room for more
   *   than `stride` tokens of the text, or if the text has more than 250,000 characters; `too_many_inputs` if there are
   *   more than `maxWindows` sequences
   */
  encodeWindows(question: string, context: string, options: WindowOptions): TextWindow[];
  /**
   * Encodes a text in as many sequences as it needs. Each sequence has the next part of the text.
   *
   * @param maxTokens maximum number of ids of a sequence, including special tokens
   * @throws BertEdgeError `input_too_long` if the text has more than 250,000 characters
   */
  encodeChunks(text: string, maxTokens: number): TokenIds[];
  /**
   * Encodes two texts as one sequence, as cross-encoders and models for question answering read them.
   *
   * @param maxTokens maximum number of ids, including special tokens; the longer text is truncated first
   * @param side as in `encode`
   * @returns the pair, and `tokens` as in `encode`
   * @throws BertEdgeError `pairs_unsupported` if the tokenizer has no template for two texts that `PairTokens` describes, and
   *   the errors of `encode`
   */
  encodePair(first: string, second: string, maxTokens: number, side?: Side): EncodedPair;
  /**
   * Returns a function that encodes the pairs of a text with others, as `encodePair` does. It reads the first text once. Parameters and
   * errors are those of `encodePair`.
   */
  pairsWith(first: string, maxTokens: number, side?: Side): (second: string) => EncodedPair;
}

/** A pair, and its number of tokens before truncation, as in `encode`. */
export type EncodedPair = TokenPair & { tokens: number };

/** Tokens, and where they are in their text. */
export interface PlacedTokens {
  readonly ids: TokenIds;
  /** UTF-16 start and end of each token in the text: [2 × ids]; 0, 0 for special tokens and tokens of a question. */
  readonly offsets: Int32Array<ArrayBuffer>;
  /** Index of each token's word: [ids]; -1 for special tokens and tokens of a question. */
  readonly words: Int32Array<ArrayBuffer>;
  /**
   * Number of code points of each token as the vocabulary spells it, such as 5 for `##ing`: [ids]; undefined if the tokenizer does
   * not mark tokens that continue a word with a prefix.
   */
  readonly spelled?: Int32Array<ArrayBuffer> | undefined;
}

export interface WindowOptions {
  readonly maxTokens: number;
  readonly maxQuestionTokens: number;
  readonly stride: number;
  readonly maxWindows?: number | undefined;
}

/** A question with a part of a text. Offsets and words are those of the text. */
export interface TextWindow extends TokenPair, PlacedTokens {}
