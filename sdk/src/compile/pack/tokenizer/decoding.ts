import * as v from "valibot";
import type { TokenizerSettings } from "../../../runtime/tokenizer/packed/packed-settings.ts";
import { TokenName, tokenIds } from "../../checkpoint/tokenizer/token-names.ts";

const TokenizerConfig = v.object({
  clean_up_tokenization_spaces: v.nullish(v.boolean(), false),
  clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output: v.nullish(v.boolean(), false),
  /** Only transformers 5 writes this key. */
  backend: v.optional(v.string()),
});

/**
 * Whether decoding removes blanks from texts, as transformers does with this tokenizer_config.json. transformers 5 leaves the texts
 * of BPE as they are, so the version that wrote the file decides.
 */
export function cleansTexts(json: object, config: object): boolean {
  const parsed = v.safeParse(TokenizerConfig, config);
  if (!parsed.success) return false;
  const { clean_up_tokenization_spaces: cleans, backend, ...more } = parsed.output;
  const leavesTexts = backend !== undefined && v.is(v.object({ model: v.object({ type: v.literal("BPE") }) }), json);
  return cleans && (!leavesTexts || more.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output);
}

/**
 * Returns the decoding settings that all kinds of tokenizers share. Without a decoder, Hugging Face's Rust tokenizers join tokens with
 * blanks.
 *
 * @param own id of the model's token for unknown words or characters
 */
export const decodingOf = (
  json: object,
  config: object,
  own?: number,
): Pick<TokenizerSettings, "cleansTexts" | "joinsAsSpelled" | "namedUnknown"> => ({
  cleansTexts: cleansTexts(json, config),
  joinsAsSpelled: v.is(v.object({ decoder: v.null() }), json),
  ...namedUnknown(json, config, own),
});

const Config = v.object({ unk_token: TokenName });

/** Returns the id of the unknown token in tokenizer_config.json, if it differs from the model's unknown token. */
function namedUnknown(json: object, config: object, own: number | undefined): Pick<TokenizerSettings, "namedUnknown"> {
  if (!v.is(Config, config)) return {};
  const id = tokenIds(json).get(v.parse(Config, config).unk_token);
  return id === undefined || id === own ? {} : { namedUnknown: id };
}
