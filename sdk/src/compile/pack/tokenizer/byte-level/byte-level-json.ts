import * as v from "valibot";
import { NormalizerJson } from "../normalizers/normalizer-json.ts";
import { common, Vocabulary } from "../tokenizer-json.ts";
import { Words } from "./words-json.ts";

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
