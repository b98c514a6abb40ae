import * as v from "valibot";
import { common, Vocabulary } from "../tokenizer-json.ts";

const Pair = v.strictTuple([v.string(), v.string()]);
/** A merge, written as "a b" or ["a", "b"]. */
const Merge = v.union([
  v.pipe(
    v.string(),
    v.transform((line) => line.split(" ")),
    Pair,
  ),
  Pair,
]);

/** Schema of the tokenizer.json of RoBERTa, DistilRoBERTa and ModernBERT. */
export const ByteLevelJson = v.object({
  ...common,
  normalizer: v.nullish(v.object({ type: v.literal("NFC") })),
  pre_tokenizer: v.object({
    type: v.literal("ByteLevel"),
    add_prefix_space: v.boolean(),
    use_regex: v.optional(v.literal(true)),
  }),
  model: v.object({
    type: v.literal("BPE"),
    dropout: v.nullish(v.literal(0)),
    continuing_subword_prefix: v.nullish(v.literal("")),
    end_of_word_suffix: v.nullish(v.literal("")),
    ignore_merges: v.nullish(v.literal(false)),
    vocab: Vocabulary,
    merges: v.array(Merge),
  }),
});

const Trimming = v.object({
  type: v.picklist(["ByteLevel", "RobertaProcessing"]),
  trim_offsets: v.optional(v.literal(true)),
});

/** Schema of the tokenizer.json of tokenizers whose post-processor leaves out spaces around tokens. */
export const TrimsOffsets = v.object({
  post_processor: v.union([
    Trimming,
    v.object({
      type: v.literal("Sequence"),
      processors: v.pipe(
        v.array(v.unknown()),
        v.check((processors) => processors.some((processor) => v.is(Trimming, processor))),
      ),
    }),
  ]),
});
