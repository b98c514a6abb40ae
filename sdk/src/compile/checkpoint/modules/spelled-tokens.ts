import * as v from "valibot";
import { readTokenizer } from "../model-folder.ts";

const Added = v.array(v.object({ id: v.number(), content: v.string() }));
const Json = v.object({
  added_tokens: v.optional(Added, []),
  model: v.optional(
    v.object({
      // WordPiece, BPE and WordLevel have an object; Unigram has a list of pieces with their scores.
      vocab: v.union([v.record(v.string(), v.number()), v.array(v.looseTuple([v.string()]))]),
    }),
    { vocab: {} },
  ),
});

/** The name of a special token in tokenizer_config.json: its text, or an object with it. */
const Named = v.union([v.string(), v.object({ content: v.string() })]);
const Config = v.object({
  mask_token: v.nullish(Named),
  eos_token: v.nullish(Named),
  unk_token: v.nullish(Named),
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
  const names = v.is(Config, config) ? config : {};
  const ids = new Map<string, number>();
  if (parsed.success) {
    const { added_tokens: added, model } = parsed.output;
    if (Array.isArray(model.vocab)) for (const [id, [piece]] of model.vocab.entries()) ids.set(piece, id);
    else for (const [piece, id] of Object.entries(model.vocab)) ids.set(piece, id);
    for (const { id, content } of added) ids.set(content, id);
  }
  return {
    idOf: (spelling) => ids.get(spelling),
    named(name) {
      const named = names[name];
      return named == null ? undefined : ids.get(typeof named === "string" ? named : named.content);
    },
  };
}
