import * as v from "valibot";
import type { WordPattern } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import { NormalizerJson } from "../normalizers/pack-normalizers.ts";
import { common, Vocabulary } from "../tokenizer-json.ts";
import { Break, type WordBreaks } from "../word-breaks.ts";

/** GPT-2's pattern: https://github.com/openai/gpt-2/blob/master/src/encoder.py */
export const GPT2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
/** Parts of the patterns of Llama 3 and Qwen. `NUMBERS` matches the part for numbers, which lies between LETTERS and OTHERS. */
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|";
const LETTERS = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|`;
const OTHERS = String.raw`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const NUMBERS = /^\\p\{N\}(?:(\+)|\{1,(\d+)\})?$/;

/** Pattern that finds words. `pattern` is undefined for GPT-2's pattern, which is the default of the runtime. */
interface Found {
  readonly pattern?: WordPattern;
}

/** Reads the pattern of GPT-2, Llama 3 or Qwen, which finds words. Returns undefined for any other pattern. */
function readPattern(regex: string): Found | undefined {
  if (regex === GPT2) return {};
  const contracts = regex.startsWith(CONTRACTIONS);
  const rest = contracts ? regex.slice(CONTRACTIONS.length) : regex;
  if (!rest.startsWith(LETTERS) || !rest.endsWith(OTHERS)) return undefined;
  const numbers = NUMBERS.exec(rest.slice(LETTERS.length, -OTHERS.length));
  if (!numbers) return undefined;
  const [, isAny, most = "1"] = numbers;
  return { pattern: { contracts, ...(!isAny && { longestNumber: Number(most) }) } };
}

/** A Split whose words are the matches of a pattern. Patterns match all of a text, so nothing lies between matches. */
const PatternSplit = v.pipe(
  v.object({
    type: v.literal("Split"),
    pattern: v.strictObject({
      Regex: v.pipe(
        v.string(),
        v.check((regex) => readPattern(regex) !== undefined),
      ),
    }),
    behavior: v.picklist(["Isolated", "Removed"]),
    invert: v.boolean(),
  }),
  v.check(({ behavior, invert }) => invert === (behavior === "Removed")),
);
const Bytes = { type: v.literal("ByteLevel"), add_prefix_space: v.boolean() } as const;
const FindsWords = v.object({ ...Bytes, use_regex: v.optional(v.literal(true)) });
const OnlyBytes = v.object({ ...Bytes, use_regex: v.literal(false) });

/** Settings of a pre-tokenizer of byte-level BPE. */
interface ByteLevelWords extends Found {
  readonly prefixSpace: boolean;
  readonly breaks: WordBreaks;
}

/** Schema of pre-tokenizers of byte-level BPE. */
const Words = v.pipe(
  v.union([
    FindsWords,
    v.object({
      type: v.literal("Sequence"),
      pretokenizers: v.array(v.union([Break, PatternSplit, FindsWords, OnlyBytes])),
    }),
  ]),
  v.transform((given) => (given.type === "Sequence" ? given.pretokenizers : [given])),
  v.rawTransform(({ dataset: { value: steps }, addIssue, NEVER }): ByteLevelWords => {
    const bytes = steps.at(-1);
    const split = steps.at(-2);
    const breaks = steps.slice(0, split?.type === "Split" ? -2 : -1).filter((step) => v.is(Break, step));
    const finds = split?.type === "Split" ? readPattern(split.pattern.Regex) : {};
    const isKnown = steps.length === breaks.length + (split?.type === "Split" ? 2 : 1);
    if (!isKnown || bytes?.type !== "ByteLevel" || (bytes.use_regex !== false) === (split?.type === "Split")) {
      addIssue({ message: "Expected breaks, a pattern and bytes" });
      return NEVER;
    }
    return { ...finds, prefixSpace: bytes.add_prefix_space, breaks };
  }),
);

const Pair = v.strictTuple([v.string(), v.string()]);
/** A merge, written as "a b" or ["a", "b"]. */
export const Merge = v.union([
  v.pipe(
    v.string(),
    v.transform((line) => line.split(" ")),
    Pair,
  ),
  Pair,
]);

/** Schema of the tokenizer.json of RoBERTa, DistilRoBERTa, ModernBERT and EuroBERT. */
export const ByteLevelJson = v.object({
  ...common,
  normalizer: NormalizerJson,
  pre_tokenizer: Words,
  model: v.object({
    type: v.literal("BPE"),
    dropout: v.nullish(v.literal(0)),
    continuing_subword_prefix: v.nullish(v.literal("")),
    end_of_word_suffix: v.nullish(v.literal("")),
    ignore_merges: v.nullish(v.boolean(), false),
    vocab: Vocabulary,
    merges: v.array(Merge),
  }),
});

const Trimming = v.object({
  type: v.picklist(["ByteLevel", "RobertaProcessing"]),
  trim_offsets: v.optional(v.literal(true)),
  add_prefix_space: v.optional(v.boolean(), true),
});
const Sequence = v.object({ type: v.literal("Sequence"), processors: v.array(v.unknown()) });
const Processors = v.object({ post_processor: v.unknown() });

/** Returns the post-processor that leaves out spaces around tokens; undefined if there is none. */
export function trimmingOf(json: object): v.InferOutput<typeof Trimming> | undefined {
  const parsed = v.safeParse(Processors, json);
  if (!parsed.success) return undefined;
  const { post_processor } = parsed.output;
  const all: unknown[] = v.is(Sequence, post_processor) ? post_processor.processors : [post_processor];
  const found = all.find((each) => v.is(Trimming, each));
  return found && v.parse(Trimming, found);
}
