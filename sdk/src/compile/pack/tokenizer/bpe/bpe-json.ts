import * as v from "valibot";
import { Merge } from "../byte-level/byte-level-json.ts";
import { NormalizerJson } from "../normalizers/pack-normalizers.ts";
import { common, Vocabulary } from "../tokenizer-json.ts";
import { WordBreaks } from "../word-breaks.ts";

/** Pre-tokenizer that splits at blanks. `packBpe` takes it only if the normalizer replaces all blanks by ▁, so it splits nothing. */
const SplitAtBlanks = v.object({
  type: v.literal("Split"),
  pattern: v.strictObject({ String: v.literal(" ") }),
  behavior: v.string(),
  invert: v.literal(false),
});
const Metaspace = v.object({
  type: v.literal("Metaspace"),
  replacement: v.literal("▁"),
  prepend_scheme: v.picklist(["always", "never"]),
  split: v.optional(v.boolean(), true),
});

/** Schema of the decoder of BPE, which turns tokens into a text. */
const Decoder = v.pipe(
  v.nullish(
    v.union([
      v.object({ type: v.literal("Metaspace"), prepend_scheme: v.picklist(["always", "never", "first"]) }),
      v.object({
        type: v.literal("Sequence"),
        decoders: v.array(
          v.variant("type", [
            MarkBlanksBack(),
            v.object({ type: v.picklist(["ByteFallback", "Fuse"]) }),
            v.object({ type: v.literal("Strip"), content: v.literal(" "), start: v.literal(1), stop: v.literal(0) }),
          ]),
        ),
      }),
    ]),
  ),
  v.check((given) => given?.type !== "Sequence" || given.decoders[0]?.type === "Replace"),
  v.transform((given) => {
    if (given?.type !== "Sequence") {
      return {
        decodesBytes: false,
        drops: given && given.prepend_scheme !== "never" ? "first-token" : "nothing",
      } as const;
    }
    const types = given.decoders.map(({ type }) => type);
    return {
      decodesBytes: types.includes("ByteFallback"),
      drops: types.includes("Strip") ? "first" : "nothing",
    } as const;
  }),
);

function MarkBlanksBack() {
  return v.object({
    type: v.literal("Replace"),
    pattern: v.strictObject({ String: v.literal("▁") }),
    content: v.literal(" "),
  });
}

const none = v.nullish(v.union([v.literal(""), v.literal(0)]));

/** Schema of the tokenizer.json of BPE over characters, such as Gemma, mmBERT, Llama 2 and the quick tour of Hugging Face's tokenizers. */
export const BpeJson = v.object({
  ...common,
  normalizer: NormalizerJson,
  pre_tokenizer: v.nullish(v.union([SplitAtBlanks, Metaspace, WordBreaks])),
  decoder: v.optional(Decoder, null),
  model: v.object({
    type: v.literal("BPE"),
    dropout: none,
    continuing_subword_prefix: none,
    end_of_word_suffix: none,
    unk_token: v.nullish(v.string()),
    fuse_unk: v.nullish(v.boolean(), false),
    byte_fallback: v.nullish(v.boolean(), false),
    ignore_merges: v.nullish(v.boolean(), false),
    vocab: Vocabulary,
    merges: v.array(Merge),
  }),
});

export type BpeJson = v.InferOutput<typeof BpeJson>;
