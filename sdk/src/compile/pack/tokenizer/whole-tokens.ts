/**
 * Returns the tokens that merging does not give for their own text, with their ids. With `ignore_merges`, a word that is such a token
 * becomes this token.
 *
 * @param textOf returns the text of a token as the vocabulary spells it; undefined if no text is that token
 * @param merge returns the ids that a text is merged to
 */
export function wholeTokens(
  vocabulary: ReadonlyMap<string, number>,
  textOf: (spelling: string) => string | undefined,
  merge: (text: string) => readonly number[],
): [text: string, id: number][] {
  return [...vocabulary].flatMap(([spelling, id]): [string, number][] => {
    const text = textOf(spelling);
    if (text === undefined || text === "") return [];
    const merged = merge(text);
    return merged.length === 1 && merged[0] === id ? [] : [[text, id]];
  });
}
