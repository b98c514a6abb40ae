import * as v from "valibot";
import { once } from "../../../../artifact/once.ts";
import { isWordCharacter } from "../../../../runtime/tokenizer/packed/character-classes.ts";
import { CODE_POINTS } from "../../../../runtime/tokenizer/packed/code-points.ts";
import { GPT2 } from "../byte-level/byte-level-json.ts";
import { isNumeric } from "../code-point-classes.ts";
import unicode from "../rust-unicode.json" with { type: "json" };
import { refusedPart } from "./refuse-part.ts";

// Patterns for Split, in the syntax of Oniguruma, for pre-tokenizers that @huggingface/tokenizers reads differently from Hugging
// Face's Rust tokenizers. Each pattern matches the words, so Split is inverted: it keeps the matches.

/** Converts ranges of code points, such as "61-63 ff", to the content of a character class. */
const inClass = (ranges: string): string => ranges.replace(/[\da-f]+/g, String.raw`\x{$&}`).replaceAll(" ", "");

/** Returns the content of a character class for a set of code points. The result does not depend on the runtime's Unicode version. */
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
const PUNCTUATION = inClass(unicode.sets.punctuation);
/** Numbers of Rust's `is_numeric`. */
const numberClass = once(() => rangesOf(isNumeric));

const patterns = {
  BertPreTokenizer: () => String.raw`[${PUNCTUATION}]|[^\s${PUNCTUATION}]+`,
  Whitespace: () => String.raw`[${wordClass()}]+|[^\s${wordClass()}]+`,
  WhitespaceSplit: () => String.raw`[^\s]+`,
  digits: () => `[${numberClass()}]+|[^${numberClass()}]+`,
  singleDigits: () => `[${numberClass()}]|[^${numberClass()}]+`,
  /** Metaspace, after blanks have become ▁. */
  marked: () => "▁?[^▁]+|▁",
} as const;

/** Patterns of Punctuation, by its behavior. */
const punctuation: Readonly<Record<string, string>> = {
  Isolated: `[${PUNCTUATION}]|[^${PUNCTUATION}]+`,
  Contiguous: `[${PUNCTUATION}]+|[^${PUNCTUATION}]+`,
  Removed: `[^${PUNCTUATION}]+`,
  MergedWithPrevious: `[^${PUNCTUATION}]+[${PUNCTUATION}]?|[${PUNCTUATION}]`,
  MergedWithNext: `[${PUNCTUATION}]?[^${PUNCTUATION}]+|[${PUNCTUATION}]`,
};

/** Escapes a text for a pattern. */
export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

const Pattern = v.union([v.strictObject({ String: v.string() }), v.strictObject({ Regex: v.string() })]);
const Step = v.variant("type", [
  v.object({ type: v.picklist(["BertPreTokenizer", "Whitespace", "WhitespaceSplit"]) }),
  v.object({ type: v.literal("Digits"), individual_digits: v.optional(v.boolean(), false) }),
  v.object({
    type: v.literal("Punctuation"),
    behavior: v.optional(v.picklist(Object.keys(punctuation)), "Isolated"),
  }),
  v.object({ type: v.literal("CharDelimiterSplit"), delimiter: v.string() }),
  v.object({
    type: v.literal("Split"),
    pattern: Pattern,
    behavior: v.picklist(["Isolated", "Removed"]),
    invert: v.boolean(),
  }),
  v.object({ type: v.literal("ByteLevel"), add_prefix_space: v.boolean(), use_regex: v.optional(v.boolean(), true) }),
  v.object({
    type: v.literal("Metaspace"),
    replacement: v.literal("▁"),
    add_prefix_space: v.nullish(v.boolean(), true),
    prepend_scheme: v.optional(v.picklist(["always", "never", "first"])),
    split: v.nullish(v.boolean(), true),
  }),
]);
const Sequence = v.object({ type: v.literal("Sequence"), pretokenizers: v.array(v.unknown()) });
const First = v.object({ type: v.literal("Metaspace"), prepend_scheme: v.literal("first") });

/** Makes a pre-tokenizer whose words are the matches of a pattern. */
const words = (regex: string) => ({ type: "Split", pattern: { Regex: regex }, behavior: "Removed", invert: true });
/** Matches a capturing group. JavaScript's split would put the text of such a group between the parts. */
const CAPTURES = /(?<!\\)\((?!\?)|\(\?</;

/**
 * Rewrites pre-tokenizers so that @huggingface/tokenizers gives the same results as the Rust tokenizers.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for a pre-tokenizer that cannot be rewritten
 */
export function rewrittenPreTokenizers(json: unknown): object[] {
  if (json === null || json === undefined) return [];
  if (v.is(Sequence, json)) {
    // Rust puts ▁ only before the first word of a text, but @huggingface/tokenizers puts it before each word.
    if (json.pretokenizers.slice(1).some((step) => v.is(First, step))) {
      throw refusedPart("pre-tokenizer", "Metaspace with the prepend_scheme first, after another one");
    }
    return json.pretokenizers.flatMap(rewrittenPreTokenizers);
  }
  const parsed = v.safeParse(Step, json);
  if (!parsed.success) throw refusedPart("pre-tokenizer", described(json));
  const step = parsed.output;
  switch (step.type) {
    case "Digits":
      return [words(step.individual_digits ? patterns.singleDigits() : patterns.digits())];
    case "Punctuation":
      return [words(punctuation[step.behavior] as string)];
    case "CharDelimiterSplit":
      return [{ type: "Split", pattern: { Regex: escaped(step.delimiter) }, behavior: "Removed", invert: false }];
    case "Split": {
      const regex = "String" in step.pattern ? escaped(step.pattern.String) : step.pattern.Regex;
      if (CAPTURES.test(regex)) throw refusedPart("pre-tokenizer", "Split with a group in its pattern");
      // With the behavior Isolated, text between matches is kept with and without `invert`.
      return [{ ...step, pattern: { Regex: regex }, invert: step.invert && step.behavior === "Removed" }];
    }
    case "Metaspace": {
      const prepend_scheme = step.prepend_scheme ?? (step.add_prefix_space ? "always" : "never");
      return [{ type: step.type, replacement: "▁", prepend_scheme }, ...(step.split ? [words(patterns.marked())] : [])];
    }
    case "ByteLevel":
      return [
        ...(step.add_prefix_space ? [{ type: "Replace", pattern: { Regex: UNSPACED_START }, content: " " }] : []),
        ...(step.use_regex ? [{ type: "Split", pattern: { Regex: GPT2 }, behavior: "Isolated", invert: false }] : []),
        { type: step.type, add_prefix_space: false, use_regex: false },
      ];
    default:
      return [words(patterns[step.type]())];
  }
}

/** Matches the start of a text that is not empty and does not begin with a space. */
const UNSPACED_START = String.raw`\A(?=[^ ])`;

/** Names a pre-tokenizer, and its behavior if it has one. */
function described(json: unknown): string {
  const { type, behavior } = Object(json);
  return behavior === undefined ? String(type) : `${type} with the behavior ${behavior}`;
}
