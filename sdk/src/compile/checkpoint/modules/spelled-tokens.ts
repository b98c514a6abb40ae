import * as v from "valibot";
import type { TokenizerFiles } from "../model-folder.ts";
import { TokenName, tokenIds } from "../tokenizer/token-names.ts";

const Config = v.object({
  mask_token: v.nullish(TokenName),
  eos_token: v.nullish(TokenName),
  pad_token: v.nullish(TokenName),
  unk_token: v.nullish(TokenName),
});

/** The tokens of a tokenizer, by their spelling. */
export interface SpelledTokens {
  /** Returns the id of a token; undefined if there is no such token. */
  idOf(spelling: string): number | undefined;
  /** Returns the id of a special token that tokenizer_config.json names; null if it says that there is none. */
  named(name: keyof v.InferOutput<typeof Config>): number | null | undefined;
}

/** Returns the tokens of a folder's tokenizer. Their ids are those of `convert_tokens_to_ids` in transformers. */
export function spelledTokens({ json, config }: TokenizerFiles): SpelledTokens {
  const names = v.parse(v.fallback(Config, {}), config);
  const ids = tokenIds(json);
  return {
    idOf: (spelling) => ids.get(spelling),
    named(name) {
      const spelling = names[name];
      return spelling == null ? spelling : ids.get(spelling);
    },
  };
}
