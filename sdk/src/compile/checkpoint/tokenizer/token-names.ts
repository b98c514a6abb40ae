import * as v from "valibot";

/** The name of a special token in tokenizer_config.json: its text, or an object with it. The result is the text. */
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
