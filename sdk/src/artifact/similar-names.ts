import { BertEdgeError } from "./error.ts";
import { shown } from "./shown.ts";

/** Maximum share of a name's letters that may be wrong. */
const WRONG = 1 / 3;

/**
 * Returns the known names that a wrong name can stand for, the most similar first. A known name is similar if it begins with the wrong
 * name and is at most twice as long, or if at most a third of its letters are wrong.
 */
export function similarNames(name: string, known: readonly string[]): string[] {
  const isBeginning = (other: string) => other.startsWith(name) && 2 * name.length >= other.length;
  return known
    .filter((other) => isBeginning(other) || Math.abs(other.length - name.length) <= WRONG * other.length)
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .filter(({ other, distance }) => isBeginning(other) || distance <= WRONG * other.length)
    .sort((a, b) => a.distance - b.distance)
    .map(({ other }) => other);
}

/** Asks which of the known names is meant: ` Did you mean a or b?`. Returns an empty text if none is similar. */
export const meantNames = (name: string, known: readonly string[]): string => didYouMean(similarNames(name, known));

/** Asks which of some names is meant. Returns an empty text if there are none. */
export const didYouMean = (names: readonly string[]): string =>
  names.length > 0 ? ` Did you mean ${names.slice(0, 3).join(" or ")}?` : "";

/**
 * Refuses options that a call does not have. In plain JavaScript, a misspelt option would have no effect.
 *
 * @throws BertEdgeError with `code`
 */
export function assertOptions(
  call: string,
  given: object,
  known: readonly string[],
  code: "setting_invalid" | "request_invalid" = "setting_invalid",
): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new BertEdgeError(code, `${call} has no option ${shown(unknown)}.${meantNames(unknown, known)}`, {
    hint: `Leave it out. The options are ${known.join(", ")}.`,
  });
}

/** Counts the letters to insert, delete or replace until one word is the other: the Levenshtein distance. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
