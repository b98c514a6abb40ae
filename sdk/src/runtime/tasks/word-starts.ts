/** A text's tokens. */
export interface TokensOfText {
  readonly text: string;
  /** Token ids: [tokens] */
  readonly ids: ArrayLike<number>;
  /** UTF-16 start and end of each token in the text: [tokens, 2], row-major */
  readonly offsets: Int32Array;
  /** Id of the unknown token, if the tokenizer has one. */
  readonly unknownId?: number | undefined;
  /**
   * Code points of each token as the vocabulary spells it, such as 5 for `##ing`: [tokens]. Only tokenizers that mark continued
   * words with a prefix (WordPiece) have it.
   */
  readonly spelled?: ArrayLike<number> | undefined;
}

/**
 * Finds the tokens that begin a word, by the rules of transformers' TokenClassificationPipeline:
 *
 * - With a prefix for continued words, a token begins a word if it is as long as its part of the text.
 * - Without one, a token begins a word at the start of the text and next to a space. Punctuation continues the word before
 *   it.
 * - Unknown tokens always begin a word.
 *
 * @returns [tokens]
 */
export function wordStarts({ text, ids, offsets, unknownId, spelled }: TokensOfText): boolean[] {
  return Array.from(ids, (id, i) => {
    const [start, end] = [offsets[2 * i] as number, offsets[2 * i + 1] as number];
    if (id === unknownId) return true;
    if (spelled) return spelled[i] === codePoints(text.slice(start, end));
    return start === 0 || text[start - 1] === " " || text[start] === " ";
  });
}

/** Counts as Python's `len` does. */
const codePoints = (text: string): number => [...text].length;
