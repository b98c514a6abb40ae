import { once } from "../../../../artifact/once.ts";
import { isWordCharacter } from "../../../../runtime/tokenizer/packed/character-classes.ts";
import { CODE_POINTS } from "../../../../runtime/tokenizer/packed/code-points.ts";
import { isNumeric } from "../code-point-classes.ts";
import unicode from "../rust-unicode.json" with { type: "json" };

// Patterns for Split, in the syntax of Oniguruma, for pre-tokenizers that @huggingface/tokenizers reads differently from Hugging
// Face's Rust tokenizers. Each matches the words, so Split is inverted.

/** Writes ranges of code points, such as "61-63 ff", for a class of characters. */
const inClass = (ranges: string): string => ranges.replace(/[\da-f]+/g, String.raw`\x{$&}`).replaceAll(" ", "");

/** Lists the ranges of a set of code points, so that they do not depend on the runtime's Unicode version. */
function rangesOf(has: (point: number) => boolean): string {
  const ranges: string[] = [];
  for (let point = 0; point < CODE_POINTS; point++) {
    const first = point;
    while (point < CODE_POINTS && has(point)) point++;
    if (point > first) ranges.push(`${first.toString(16)}-${(point - 1).toString(16)}`);
  }
  return inClass(ranges.join(" "));
}

/** The class `\w` of Rust's regex crate. */
const wordClass = once(() => rangesOf((point) => isWordCharacter(String.fromCodePoint(point))));
export const PUNCTUATION = inClass(unicode.sets.punctuation);
/** Numbers of Rust's `is_numeric`. */
const numberClass = once(() => rangesOf(isNumeric));

export const patterns = {
  BertPreTokenizer: () => String.raw`[${PUNCTUATION}]|[^\s${PUNCTUATION}]+`,
  Whitespace: () => String.raw`[${wordClass()}]+|[^\s${wordClass()}]+`,
  WhitespaceSplit: () => String.raw`[^\s]+`,
  digits: () => `[${numberClass()}]+|[^${numberClass()}]+`,
  singleDigits: () => `[${numberClass()}]|[^${numberClass()}]+`,
  /** Metaspace, after blanks have become ▁. */
  marked: () => "▁?[^▁]+|▁",
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
