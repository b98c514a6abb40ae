import * as v from "valibot";
import { readTokenizer } from "../model-folder.ts";
import { TokenName, vocabularyIds } from "../tokenizer/token-names.ts";

const Added = v.array(v.object({ id: v.number(), content: v.string() }));
const Json = v.object({
  added_tokens: v.optional(Added, []),
  model: v.optional(v.object({ vocab: v.unknown() }), { vocab: {} }),
});

const Config = v.object({
  mask_token: v.nullish(TokenName),
  eos_token: v.nullish(TokenName),
  unk_token: v.nullish(TokenName),
});

/** The tokens of a tokenizer, by their spelling. */
export interface SpelledTokens {
  /** Returns the id of a token; undefined if there is no such token. */
  idOf(spelling: string): number | undefined;
  /** Returns the id of a special token that tokenizer_config.json names. */
  named(name: keyof v.InferOutput<typeof Config>): number | undefined;
}

/**
 * Reads the tokens of a folder's tokenizer. Their ids are those of `convert_tokens_to_ids` in transformers.
 *
 * @throws BertEdgeError the errors of `readTokenizer`
 */
export async function readSpelledTokens(folder: string): Promise<SpelledTokens> {
  const { json, config } = await readTokenizer(folder);
  const parsed = v.safeParse(Json, json);
  const names = v.parse(v.fallback(Config, {}), config);
  const ids = vocabularyIds(parsed.success ? parsed.output.model.vocab : {});
  if (parsed.success) for (const { id, content } of parsed.output.added_tokens) ids.set(content, id);
  return {
    idOf: (spelling) => ids.get(spelling),
    named(name) {
      const spelling = names[name];
      return spelling == null ? undefined : ids.get(spelling);
    },
  };
}
