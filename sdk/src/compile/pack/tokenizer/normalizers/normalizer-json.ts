import * as v from "valibot";

const Text = v.pipe(v.string(), v.minLength(1));

/** Regular expressions that Replace can have. Others are not packed: Rust's and JavaScript's differ. */
export const BLANKS_REGEX = " {2,}";
export const SPACES_REGEX = String.raw`\s{2,}|[\n\r\t]`;

const SingleNormalizer = v.variant("type", [
  v.object({ type: v.literal("Precompiled"), precompiled_charsmap: v.pipe(v.string(), v.base64()) }),
  v.object({ type: v.literal("Strip"), strip_left: v.boolean(), strip_right: v.boolean() }),
  v.object({
    type: v.literal("Replace"),
    pattern: v.union([
      v.strictObject({ Regex: v.picklist([BLANKS_REGEX, SPACES_REGEX]) }),
      v.strictObject({ String: Text }),
    ]),
    content: v.string(),
  }),
  v.object({ type: v.literal("Prepend"), prepend: Text }),
  v.object({ type: v.picklist(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"]) }),
]);

/** Schema of the normalizers of tokenizer.json that can be packed. The output is a list. */
export const NormalizerJson = v.pipe(
  v.nullish(
    v.variant("type", [
      ...SingleNormalizer.options,
      v.object({ type: v.literal("Sequence"), normalizers: v.array(SingleNormalizer) }),
    ]),
    { type: "Sequence", normalizers: [] },
  ),
  v.transform((given) => (given.type === "Sequence" ? given.normalizers : [given])),
);

export type NormalizerJson = v.InferOutput<typeof SingleNormalizer>;
