import * as v from "valibot";

/** The name of a special token in tokenizer_config.json: its text, or an object whose `content` is the text. The result is the text. */
export const TokenName = v.union([
  v.string(),
  v.pipe(
    v.object({ content: v.string() }),
    v.transform(({ content }) => content),
  ),
]);

/**
 * Returns the ids of a vocabulary by token.
 *
 * @param vocabulary `model.vocab` of tokenizer.json: an object with ids, or Unigram's list of pieces with their scores
 */
export function vocabularyIds(vocabulary: unknown): Map<string, number> {
  if (Array.isArray(vocabulary)) return new Map(vocabulary.map((piece, id) => [String(Object(piece)[0]), id]));
  return new Map(Object.entries(Object(vocabulary) as Record<string, number>));
}

const Json = v.object({
  added_tokens: v.optional(v.array(v.looseObject({ content: v.string() })), []),
  model: v.optional(v.looseObject({ vocab: v.unknown() }), { vocab: {} }),
});

/**
 * Returns the ids of all tokens of a tokenizer.json. As in the Rust tokenizers, an added token that is in the vocabulary has its
 * id from there. Other added tokens get the next ids. The ids that the file gives to added tokens do not count.
 *
 * @returns no tokens if the file is not valid; its reader refuses it
 */
export function tokenIds(json: object): Map<string, number> {
  const parsed = v.safeParse(Json, json);
  if (!parsed.success) return new Map();
  const { added_tokens, model } = parsed.output;
  const ids = vocabularyIds(model.vocab);
  let next = Array.isArray(model.vocab) ? model.vocab.length : ids.size;
  for (const { content } of added_tokens) {
    if (content !== "" && !ids.has(content)) ids.set(content, next++);
  }
  return ids;
}
