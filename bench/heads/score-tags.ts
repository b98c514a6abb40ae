/** A token whose label does not count, such as the second token of a word. */
export const IGNORED = -100;

/**
 * Computes the F1 score of entities in percent, as CoNLL-2003's evaluation does: an entity is correct if its type, its first
 * and its last word are.
 *
 * @param names names of the labels: O, B-<type> and I-<type>
 * @param gold label of each token of each text, or `IGNORED`
 * @param found label of each token of each text
 */
export function entityF1(
  names: readonly string[],
  gold: readonly (readonly number[])[],
  found: readonly (readonly number[])[],
): number {
  let [wanted, predicted, correct] = [0, 0, 0];
  gold.forEach((labels, text) => {
    const words = labels.flatMap((label, token) => (label === IGNORED ? [] : [token]));
    const entities = entitiesOf(words.map((token) => names[labels[token] as number] as string));
    const others = entitiesOf(words.map((token) => names[found[text]?.[token] as number] as string));
    wanted += entities.size;
    predicted += others.size;
    correct += entities.intersection(others).size;
  });
  return (200 * correct) / (wanted + predicted);
}

/** Returns `<type> <first word> <last word>` of each entity. I- after another type begins an entity. */
function entitiesOf(labels: readonly string[]): Set<string> {
  const entities = new Set<string>();
  let first = 0;
  labels.forEach((label, word) => {
    const [kind, type] = [label[0], label.slice(2)];
    const before = labels[word - 1] ?? "O";
    if (kind !== "I" || before.slice(2) !== type) first = word;
    const goesOn = labels[word + 1] === `I-${type}`;
    if (kind !== "O" && !goesOn) entities.add(`${type} ${first} ${word}`);
  });
  return entities;
}
