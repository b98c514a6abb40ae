import * as v from "valibot";

const Normalizer = v.looseObject({ type: v.string() });
type Normalizer = v.InferOutput<typeof Normalizer>;
const Steps = v.looseObject({ normalizers: v.array(Normalizer) });
const BertNormalizer = v.looseObject({ lowercase: v.boolean(), strip_accents: v.nullish(v.boolean()) });
const Tokenizer = v.looseObject({ normalizer: v.nullish(Normalizer) });

const LOWERCASE: Normalizer = { type: "Lowercase" };

/**
 * Returns a tokenizer.json that lower-cases texts before its own normalization, as sentence-transformers does for `do_lower_case`.
 * A tokenizer that has this step stays as it is.
 *
 * @param json content of tokenizer.json. One that is not valid is returned; its reader refuses it.
 */
export function lowerCased(json: object): object {
  const { success, output } = v.safeParse(Tokenizer, json);
  return success ? { ...output, normalizer: withLowercase(output.normalizer ?? undefined) } : json;
}

function withLowercase(normalizer: Normalizer | undefined): Normalizer {
  if (!normalizer || normalizer.type === LOWERCASE.type) return LOWERCASE;
  if (normalizer.type === "Sequence" && v.is(Steps, normalizer)) {
    const { normalizers } = normalizer;
    const has = normalizers.some(({ type }) => type === LOWERCASE.type);
    return has ? normalizer : { ...normalizer, normalizers: [LOWERCASE, ...normalizers] };
  }
  // BERT's normalizer has the step itself, and strips accents by default if it lower-cases.
  if (normalizer.type === "BertNormalizer" && v.is(BertNormalizer, normalizer)) {
    return { ...normalizer, lowercase: true, strip_accents: normalizer.strip_accents ?? normalizer.lowercase };
  }
  return { type: "Sequence", normalizers: [LOWERCASE, normalizer] };
}
