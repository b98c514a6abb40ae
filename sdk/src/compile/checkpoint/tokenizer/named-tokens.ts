import * as v from "valibot";
import { vocabularyIds } from "./token-names.ts";
import type { TokenizerClass } from "./tokenizer-class.ts";

interface Flags {
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  readonly single_word: boolean;
}
const Flags = {
  lstrip: v.optional(v.boolean(), false),
  rstrip: v.optional(v.boolean(), false),
  single_word: v.optional(v.boolean(), false),
};
/** A token of tokenizer_config.json: its text, or an object with its flags. */
const Named = v.union([
  v.pipe(
    v.string(),
    v.transform((content) => ({ content, ...PLAIN })),
  ),
  v.pipe(
    v.object({ content: v.string(), ...Flags, normalized: v.optional(v.boolean(), false) }),
    v.transform((token) => ({ ...token, special: true })),
  ),
]);
const PLAIN = { lstrip: false, rstrip: false, single_word: false, normalized: false, special: true };
const ofKey = v.fallback(v.nullish(Named), undefined);
const NamedTokens = v.fallback(v.array(Named), []);

/** Special tokens that tokenizer_config.json names. */
const Settings = v.object({
  added_tokens_decoder: v.fallback(
    v.record(
      v.string(),
      v.object({
        content: v.string(),
        ...Flags,
        normalized: v.optional(v.boolean(), true),
        special: v.optional(v.boolean(), false),
      }),
    ),
    {},
  ),
  bos_token: ofKey,
  eos_token: ofKey,
  unk_token: ofKey,
  sep_token: ofKey,
  pad_token: ofKey,
  cls_token: ofKey,
  mask_token: ofKey,
  additional_special_tokens: NamedTokens,
  /** A list, or an object with a name for each token. */
  extra_special_tokens: v.fallback(
    v.union([
      v.array(Named),
      v.pipe(
        v.record(v.string(), Named),
        v.transform((tokens) => Object.values(tokens)),
      ),
    ]),
    [],
  ),
});
const Json = v.object({
  added_tokens: v.optional(v.array(v.looseObject({ content: v.string(), id: v.number() })), []),
  model: v.looseObject({ vocab: v.unknown() }),
});

/**
 * Adds the tokens that tokenizer_config.json names and tokenizer.json does not add, as transformers does when it loads a folder.
 * Flags in `added_tokens_decoder` also replace the flags of the same tokens in tokenizer.json.
 * A token of the vocabulary keeps its id, and a new one gets the next id.
 *
 * @param json content of tokenizer.json
 * @param settings content of tokenizer_config.json
 * @param by tokenizer class of transformers that reads the folder
 */
export function withNamedTokens(json: object, settings: object, by: Pick<TokenizerClass, "name" | "isRecent">): object {
  const given = v.safeParse(Json, json);
  const named = v.safeParse(Settings, settings);
  if (!given.success || !named.success) return json;
  const { added_tokens, model } = given.output;
  const { added_tokens_decoder, additional_special_tokens, extra_special_tokens, ...ofKeys } = named.output;
  const mask = maskOf(settings, by);
  if (mask) ofKeys.mask_token = mask;
  const all = [
    ...byId(Object.entries(added_tokens_decoder)),
    ...Object.values(ofKeys).filter((token) => token != null),
    ...additional_special_tokens,
    ...extra_special_tokens,
  ];
  const flags = new Map<string, Flags>(Object.values(added_tokens_decoder).map((token) => [token.content, token]));
  // If `added_tokens_decoder` exists without the mask token, transformers 4 takes the class's own flags for this token.
  if (mask && !by.isRecent && "added_tokens_decoder" in settings && !flags.has(mask.content))
    flags.set(mask.content, mask);
  const flagged = added_tokens.map((token) => withFlags(token, flags.get(token.content)));
  return { ...json, added_tokens: withMore(flagged, all, model.vocab) };
}

/** added_tokens.json: the id of each token. */
export const AddedTokens = v.record(v.string(), v.number());

/**
 * Adds the tokens of added_tokens.json that tokenizer.json does not have. transformers reads this file only for folders whose
 * tokenizer_config.json has no `added_tokens_decoder`, which versions since 4.34 write. The file's ids only order the tokens.
 *
 * @param json content of tokenizer.json
 * @param added content of added_tokens.json; undefined if there is no such file
 * @param settings content of tokenizer_config.json, with the tokens of special_tokens_map.json
 */
export function withAddedTokens(
  json: object,
  added: v.InferOutput<typeof AddedTokens> | undefined,
  settings: object,
): object {
  const given = v.safeParse(Json, json);
  if (!added || "added_tokens_decoder" in settings || !given.success) return json;
  const { added_tokens, model } = given.output;
  const named = v.safeParse(Settings, settings);
  const { added_tokens_decoder: _, ...special } = named.success ? named.output : {};
  const names = new Set(
    Object.values(special)
      .flat()
      .map((token) => token?.content),
  );
  const taken = new Set(added_tokens.map(({ id }) => id));
  const more = Object.entries(added)
    .filter(([, id]) => !taken.has(id))
    .map(([content, id]) => {
      const isSpecial = names.has(content);
      return [id, { ...PLAIN, content, normalized: !isSpecial, special: isSpecial }] as const;
    });
  return { ...json, added_tokens: withMore(added_tokens, byId(more), model.vocab) };
}

/** Returns tokens in the order of their ids. */
const byId = <T>(tokens: readonly (readonly [id: string | number, token: T])[]): T[] =>
  tokens.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, token]) => token);

/** Adds tokens to the added tokens of tokenizer.json, each once. A token of the vocabulary keeps its id, and a new one gets the next id. */
function withMore<T extends { readonly content: string; readonly id: number }>(
  added: readonly T[],
  tokens: readonly { readonly content: string }[],
  vocabulary: unknown,
) {
  const missing = new Map<string, object>();
  for (const token of tokens) if (!missing.has(token.content)) missing.set(token.content, token);
  for (const { content } of added) missing.delete(content);
  if (missing.size === 0) return added;
  const ids = vocabularyIds(vocabulary);
  let next = added.reduce((most, { id }) => Math.max(most, id + 1), ids.size);
  return [...added, ...[...missing].map(([content, token]) => ({ id: ids.get(content) ?? next++, ...token }))];
}

/** Returns a token with the flags of `added_tokens_decoder`. Its `normalized` stays as it is. */
const withFlags = <T extends object>(token: T, flags: Flags | undefined): T =>
  flags ? { ...token, lstrip: flags.lstrip, rstrip: flags.rstrip, single_word: flags.single_word } : token;

/** Classes whose mask token includes the space before it (`lstrip`), unless the files have flags for this token. */
const MASK_TAKES_SPACE = ["MPNetTokenizer", "CamembertTokenizer"];
/** Further classes whose mask token includes the space before it, only in transformers 4. */
const OLDER_MASK_TAKES_SPACE = ["RobertaTokenizer", "LongformerTokenizer", "XLMRobertaTokenizer", "AlbertTokenizer"];

/** Returns the mask token with the class's own flags; undefined if the class has none, or if the files have flags for the token. */
function maskOf(
  { mask_token }: { mask_token?: unknown },
  { name, isRecent }: Pick<TokenizerClass, "name" | "isRecent">,
) {
  const takes = MASK_TAKES_SPACE.includes(name) || (!isRecent && OLDER_MASK_TAKES_SPACE.includes(name));
  return takes && typeof mask_token === "string" ? { ...PLAIN, content: mask_token, lstrip: true } : undefined;
}

const Lists = v.object({ additional_special_tokens: v.fallback(v.nullish(v.array(v.unknown())), undefined) });

/**
 * Returns the settings of a tokenizer with the special tokens of special_tokens_map.json. transformers reads this file only
 * for folders whose tokenizer_config.json has no `added_tokens_decoder`, which versions since 4.34 write. The tokens of this
 * file then overrule tokenizer_config.json, except that both lists of additional special tokens are joined.
 *
 * @param settings content of tokenizer_config.json
 * @param listed content of special_tokens_map.json; undefined if there is no such file
 */
export function withListedTokens(settings: object, listed: object | undefined): object {
  if (!listed || "added_tokens_decoder" in settings) return settings;
  const [own, more] = [settings, listed].map((each) => v.parse(v.fallback(Lists, {}), each).additional_special_tokens);
  return { ...settings, ...listed, ...(own && more && { additional_special_tokens: [...own, ...more] }) };
}
