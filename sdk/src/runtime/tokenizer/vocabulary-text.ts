/** The tokens of a tokenizer as texts. */
export interface VocabularyText {
  /** Returns a token as tokenizer.json spells it, such as `##ing`, `Ġto` or `▁to`; undefined if there is none with this id. */
  spellingOf(id: number): string | undefined;
  /** Returns the id of a token that is spelled like this. */
  idOf(spelling: string): number | undefined;
  /** Whether a token is a mark for the model, such as [SEP]. */
  isSpecial(id: number): boolean;
  /**
   * Turns tokens into a text, as Hugging Face's tokenizers do. Leaves out ids that are not in the vocabulary.
   *
   * @param options.skipSpecial whether to leave out special tokens
   */
  decode(ids: ArrayLike<number>, options?: { readonly skipSpecial?: boolean | undefined }): string;
}
