import * as v from "valibot";
import { common } from "../tokenizer-json.ts";

const Precompiled = v.object({ type: v.literal("Precompiled"), precompiled_charsmap: v.pipe(v.string(), v.base64()) });
const Strip = v.object({ type: v.literal("Strip"), strip_left: v.boolean(), strip_right: v.boolean() });
const Replace = v.object({
  type: v.literal("Replace"),
  pattern: v.strictObject({ Regex: v.literal(" {2,}") }),
  content: v.string(),
});
const NormalizerJson = v.variant("type", [Precompiled, Strip, Replace]);
const Normalizer = v.variant("type", [
  Precompiled,
  Strip,
  Replace,
  v.object({ type: v.literal("Sequence"), normalizers: v.array(NormalizerJson) }),
]);

const schemes = { replacement: v.literal("▁"), split: v.nullish(v.boolean(), true) } as const;
const Metaspace = v.union([
  v.object({
    type: v.literal("Metaspace"),
    ...schemes,
    add_prefix_space: v.nullish(v.literal(true)),
    prepend_scheme: v.optional(v.literal("always"), "always"),
  }),
  v.object({
    type: v.literal("Metaspace"),
    ...schemes,
    add_prefix_space: v.nullish(v.boolean()),
    prepend_scheme: v.literal("never"),
  }),
]);

/** Schema of the tokenizer.json of XLM-RoBERTa, multilingual E5, BGE-M3 and T5. */
export const UnigramJson = v.object({
  ...common,
  normalizer: v.nullish(Normalizer),
  pre_tokenizer: v.union([
    Metaspace,
    v.object({
      type: v.literal("Sequence"),
      pretokenizers: v.strictTuple([v.object({ type: v.literal("WhitespaceSplit") }), Metaspace]),
    }),
  ]),
  model: v.object({
    type: v.literal("Unigram"),
    unk_id: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    vocab: v.array(v.strictTuple([v.string(), v.pipe(v.number(), v.finite())])),
    byte_fallback: v.optional(v.boolean(), false),
  }),
});

export type UnigramJson = v.InferOutput<typeof UnigramJson>;
export type NormalizerJson = v.InferOutput<typeof NormalizerJson>;
