import * as v from "valibot";
import { NormalizerJson } from "../normalizers/pack-normalizers.ts";
import { common } from "../tokenizer-json.ts";

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

const WhitespaceSplit = v.object({ type: v.literal("WhitespaceSplit") });
const Punctuation = v.object({ type: v.literal("Punctuation"), behavior: v.literal("Isolated") });

/** Metaspace, alone or after a pre-tokenizer that splits texts first. */
const PreTokenizer = v.pipe(
  v.union([
    Metaspace,
    v.object({
      type: v.literal("Sequence"),
      pretokenizers: v.union([
        v.strictTuple([Metaspace]),
        v.strictTuple([WhitespaceSplit, Metaspace]),
        v.strictTuple([Punctuation, Metaspace]),
      ]),
    }),
  ]),
  v.transform((given) => {
    const all = given.type === "Sequence" ? given.pretokenizers : ([given] as const);
    return { metaspace: all[all.length - 1] as v.InferOutput<typeof Metaspace>, first: all[0].type };
  }),
);

/** Schema of the tokenizer.json of XLM-RoBERTa, multilingual E5, BGE-M3, DeBERTa-v2 and -v3, ALBERT and T5. */
export const UnigramJson = v.object({
  ...common,
  normalizer: NormalizerJson,
  pre_tokenizer: PreTokenizer,
  model: v.object({
    type: v.literal("Unigram"),
    unk_id: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    vocab: v.array(v.strictTuple([v.string(), v.pipe(v.number(), v.finite())])),
    byte_fallback: v.optional(v.boolean(), false),
  }),
});

export type UnigramJson = v.InferOutput<typeof UnigramJson>;
