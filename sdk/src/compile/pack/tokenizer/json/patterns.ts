import unicode from "../rust-unicode.json" with { type: "json" };

// Patterns for Split, in the syntax of Oniguruma, for pre-tokenizers that @huggingface/tokenizers reads differently from Hugging
// Face's Rust tokenizers. Each matches the words, so Split is inverted.

/** Writes ranges of code points, such as "61-63 ff", for a class of characters. */
const inClass = (ranges: string): string => ranges.replace(/[\da-f]+/g, String.raw`\x{$&}`).replaceAll(" ", "");

/** The class `\w` of Rust's regex crate. */
const WORD = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}`;
export const PUNCTUATION = inClass(unicode.sets.punctuation);
/** Numbers of Rust's `is_numeric`. */
const NUMBER = String.raw`\p{N}`;

export const patterns = {
  BertPreTokenizer: String.raw`[${PUNCTUATION}]|[^\s${PUNCTUATION}]+`,
  Whitespace: String.raw`[${WORD}]+|[^\s${WORD}]+`,
  WhitespaceSplit: String.raw`[^\s]+`,
  digits: `[${NUMBER}]+|[^${NUMBER}]+`,
  singleDigits: `[${NUMBER}]|[^${NUMBER}]+`,
  /** Metaspace, after blanks have become ▁. */
  marked: "▁?[^▁]+|▁",
} as const;

/** Patterns of Punctuation, by its behavior. */
export const punctuation: Readonly<Record<string, string>> = {
  Isolated: `[${PUNCTUATION}]|[^${PUNCTUATION}]+`,
  Contiguous: `[${PUNCTUATION}]+|[^${PUNCTUATION}]+`,
  Removed: `[^${PUNCTUATION}]+`,
  MergedWithPrevious: `[^${PUNCTUATION}]+[${PUNCTUATION}]?|[${PUNCTUATION}]`,
  MergedWithNext: `[${PUNCTUATION}]?[^${PUNCTUATION}]+|[${PUNCTUATION}]`,
};

/** Escapes a text for a pattern. */
export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
