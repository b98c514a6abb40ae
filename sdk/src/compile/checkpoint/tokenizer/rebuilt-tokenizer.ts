import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { withNamedTokens } from "./named-tokens.ts";
import { TokenName, vocabularyIds } from "./token-names.ts";
import { type Builder, type Flag, type Name, type Part, parts, tokenizerBuilders } from "./tokenizer-builders.ts";
import type { TokenizerClass } from "./tokenizer-class.ts";

const AnyObject = v.looseObject({});
const Json = v.looseObject({
  added_tokens: v.optional(v.array(v.looseObject({ id: v.number(), content: v.string() })), []),
  normalizer: v.nullish(AnyObject),
  model: v.looseObject({
    type: v.optional(v.string()),
    // Not validated here, because it is large.
    vocab: v.unknown(),
    merges: v.optional(v.unknown()),
  }),
});
type Json = v.InferOutput<typeof Json>;
type Model = Json["model"];

/** Keys of tokenizer_config.json from which parts of tokenizer.json are built. */
const Keys = v.object({
  ...v.entriesFromList(
    ["do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space", "trim_offsets"].concat([
      ...["keep_accents", "split_by_punct"],
    ]),
    v.fallback(v.nullish(v.boolean()), undefined),
  ),
  ...v.entriesFromList(
    ["bos_token", "eos_token", "unk_token", "sep_token", "cls_token"],
    v.fallback(v.nullish(TokenName), undefined),
  ),
  unk_id: v.fallback(v.optional(v.number()), undefined),
});

/** tokenizer.json with the parts that a class built, and the names of the parts that differ from tokenizer.json. */
export interface Rebuilt {
  readonly json: object;
  readonly different: readonly Part[];
}

/**
 * Builds the parts of tokenizer.json as the class of transformers 5 does: from the vocabulary, tokenizer_config.json and the
 * class's defaults.
 *
 * @param by the class
 * @returns undefined for classes that use tokenizer.json as it is
 * @throws BertEdgeError `checkpoint_unsupported` if the class needs another kind of vocabulary, or a special token that
 *   the files do not have
 */
export function rebuiltTokenizer(json: object, settings: object, by: TokenizerClass): Rebuilt | undefined {
  const { name } = by;
  const builder = Object.hasOwn(tokenizerBuilders, name) ? tokenizerBuilders[name] : undefined;
  const { success, output } = v.safeParse(Json, json);
  if (!builder || !success) return undefined;
  assertFits(output.model, name, builder.model);
  const keys = v.parse(v.fallback(Keys, {}), settings);
  const named = { ...builder.names, ...settings };
  // The class takes the added tokens of tokenizer.json only if tokenizer_config.json has no `added_tokens_decoder`.
  const decoder = Object.fromEntries(output.added_tokens.map(({ id, ...token }) => [id, token]));
  const added = withNamedTokens({ ...json, added_tokens: [] }, { added_tokens_decoder: decoder, ...named }, by);
  const { added_tokens } = v.parse(Json, added);
  const ids = vocabularyIds(output.model.vocab);
  for (const { id, content } of added_tokens) ids.set(content, id);
  const textOf = (key: Name) => (key in settings ? keys[key] : builder.names[key]) ?? undefined;
  const built = builder.build({
    ...{ vocab: output.model.vocab, merges: output.model.merges },
    charsmap: charsmapOf(output.normalizer ?? undefined),
    postProcessor: output.post_processor,
    flag: (key) => keys[key as keyof typeof keys] as Flag,
    unknownId: keys.unk_id,
    special(key) {
      const token = textOf(key);
      const id = token === undefined ? undefined : ids.get(token);
      if (token === undefined || id === undefined) throw noToken(name, key);
      return [token, id];
    },
    unknown: textOf("unk_token") ?? "None",
  });
  return { json: { ...json, added_tokens, ...built }, different: parts.filter((part) => isOther(part, json, built)) };
}

function assertFits({ type, vocab }: Model, name: string, wanted: Builder["model"]): void {
  const isList = Array.isArray(vocab);
  if (type === undefined ? isList === (wanted === "Unigram") : type === wanted) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `tokenizer_config.json: the tokenizer_class ${name} has a ${wanted} vocabulary, but tokenizer.json has ${type ?? "another one"}.`,
    { hint: "Set tokenizer_class to PreTrainedTokenizerFast, which reads tokenizer.json as it is." },
  );
}

const noToken = (name: string, key: Name) =>
  new BertEdgeError("checkpoint_unsupported", `tokenizer_config.json has no ${key}, which ${name} puts around texts.`, {
    hint: "Name the token, or set tokenizer_class to PreTrainedTokenizerFast, which reads tokenizer.json as it is.",
  });

const Steps = v.object({ normalizers: v.array(v.looseObject({ type: v.optional(v.string()) })) });

/** Returns the first step of a normalizer that has a table of characters: a step of the type Precompiled. */
function charsmapOf(normalizer: object | undefined): object | undefined {
  const steps = v.is(Steps, normalizer) ? v.parse(Steps, normalizer).normalizers : [normalizer];
  return steps.find((step) => v.is(v.looseObject({ type: v.literal("Precompiled") }), step));
}

/**
 * Whether a built part differs from the part in tokenizer.json. In the model, only keys of both are compared, because files of
 * older versions leave out keys with default values.
 */
function isOther(part: Part, json: object, built: Readonly<Record<Part, unknown>>): boolean {
  const given = (json as Partial<Record<Part, unknown>>)[part] ?? null;
  const made = built[part];
  if (part !== "model") return !isDeepStrictEqual(given, made);
  return Object.entries(given as object).some(
    ([key, value]) =>
      key in (made as object) && !isDeepStrictEqual(value ?? "", (made as Record<string, unknown>)[key] ?? ""),
  );
}
