import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { readTokenizer, type TokenizerFiles } from "../model-folder.ts";
import { TokenName, tokenIds } from "./token-names.ts";

const Config = v.object({
  mask_token: v.nullish(TokenName),
  eos_token: v.nullish(TokenName),
  pad_token: v.nullish(TokenName),
  unk_token: v.nullish(TokenName),
});

/** The tokens of a tokenizer, by their spelling. */
export type SpelledTokens = ReturnType<typeof spelledTokens>;

/** Returns the tokens of a folder's tokenizer. Their ids are those of `convert_tokens_to_ids` in transformers. */
export function spelledTokens({ json, config }: TokenizerFiles) {
  const names = v.parse(v.fallback(Config, {}), config);
  const ids = tokenIds(json);
  return {
    /** Returns the id of a token; undefined if there is no such token. */
    idOf: (spelling: string): number | undefined => ids.get(spelling),
    /** Returns the id of a special token that tokenizer_config.json names; null if it says that there is none. */
    named(name: keyof typeof names): number | null | undefined {
      const spelling = names[name];
      return spelling == null ? spelling : ids.get(spelling);
    },
  };
}

const MaskConfig = v.object({ mask_token: v.nullish(TokenName) });
const Added = v.object({ added_tokens: v.array(v.object({ content: v.string() })) });

/** Mask tokens of BERT and RoBERTa, which older files of their families do not name. */
const USUAL = ["[MASK]", "<mask>"];

/**
 * Reads a folder's mask token.
 *
 * @throws BertEdgeError `checkpoint_invalid` if the tokenizer has none, and the errors of `readTokenizer`
 */
export async function readMask(folder: string): Promise<{ id: number; token: string }> {
  const { json, config } = await readTokenizer(folder);
  const named = v.is(MaskConfig, config) ? v.parse(MaskConfig, config).mask_token : undefined;
  const names = named ? [named] : USUAL;
  const added = v.is(Added, json) ? json.added_tokens : [];
  const mask = added.find(({ content }) => names.includes(content));
  const id = mask && tokenIds(json).get(mask.content);
  if (mask && id !== undefined) return { id, token: mask.content };
  throw new BertEdgeError("checkpoint_invalid", `The tokenizer in ${folder} has no mask token.`, {
    hint: "Add the token to added_tokens in tokenizer.json, and name it as mask_token in tokenizer_config.json. Or choose another task with --task.",
  });
}
