/** Replacements that `clean_up_tokenization` of transformers makes, in this order. */
const CONTRACTED: readonly (readonly [string, string])[] = [
  [" .", "."],
  [" ?", "?"],
  [" !", "!"],
  [" ,", ","],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];

/** Removes the blanks before punctuation and English contractions. */
export const cleanUp = (text: string): string =>
  CONTRACTED.reduce((cleaned, [blank, short]) => cleaned.replaceAll(blank, short), text);
