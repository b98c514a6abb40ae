import { unit } from "#sdk/runtime/tasks/sentence-vector.ts";

/** The nearest other texts of a text, by cosine. */
export interface Neighbours {
  /** Indices of the nearest texts, nearest first. Of texts that are equally near, the first ones. */
  readonly nearest: readonly number[];
  /** Indices of the other texts that are exactly as near as the last of `nearest`. */
  readonly tied: readonly number[];
}

/**
 * Finds the nearest other texts of each text. A text is no neighbour of itself.
 *
 * @param vectors one vector per text
 * @param count number of neighbours; all others if there are fewer
 */
export function nearestTexts(vectors: readonly Float32Array[], count: number): Neighbours[] {
  const units = vectors.map((vector) => unit(Float32Array.from(vector)));
  const cosines = new Float64Array(units.length);
  return units.map((vector, text) => {
    units.forEach((other, i) => {
      cosines[i] = dot(vector, other);
    });
    return nearestOf(text, cosines, count);
  });
}

/**
 * Returns the share of the true neighbours that each text keeps. Texts that are tied with the last true neighbour count as
 * true neighbours too.
 */
export const keptShares = (truth: readonly Neighbours[], found: readonly Neighbours[]): number[] =>
  truth.map(({ nearest, tied }, text) => {
    const right = new Set([...nearest, ...tied]);
    const kept = found[text]?.nearest.filter((other) => right.has(other)) ?? [];
    return kept.length / nearest.length;
  });

function nearestOf(text: number, cosines: Float64Array, count: number): Neighbours {
  const nearest: number[] = [];
  for (let i = 0; i < cosines.length; i++) {
    if (i === text) continue;
    const cosine = cosines[i] as number;
    if (nearest.length === count && cosine <= (cosines[nearest[count - 1] as number] as number)) continue;
    let at = nearest.length;
    while (at > 0 && cosine > (cosines[nearest[at - 1] as number] as number)) at--;
    nearest.splice(at, 0, i);
    if (nearest.length > count) nearest.pop();
  }
  const last = cosines[nearest.at(-1) ?? text];
  const tied = [...cosines.keys()].filter((i) => i !== text && cosines[i] === last && !nearest.includes(i));
  return { nearest, tied };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
