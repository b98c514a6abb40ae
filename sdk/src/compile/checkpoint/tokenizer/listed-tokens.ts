import * as v from "valibot";

const Lists = v.object({ additional_special_tokens: v.fallback(v.nullish(v.array(v.unknown())), undefined) });

/**
 * Returns the settings of a tokenizer with the special tokens of special_tokens_map.json. transformers reads this file only for folders
 * whose tokenizer_config.json has no `added_tokens_decoder`, which versions since 4.34 write. Its tokens then overrule others.
 *
 * @param settings content of tokenizer_config.json
 * @param listed content of special_tokens_map.json; undefined if there is no such file
 */
export function withListedTokens(settings: object, listed: object | undefined): object {
  if (!listed || "added_tokens_decoder" in settings) return settings;
  const [own, more] = [settings, listed].map((each) => v.parse(v.fallback(Lists, {}), each).additional_special_tokens);
  return { ...settings, ...listed, ...(own && more && { additional_special_tokens: [...own, ...more] }) };
}
