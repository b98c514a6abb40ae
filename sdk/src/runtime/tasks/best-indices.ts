/**
 * Finds the indices of the highest scores, best first. Of equal scores, the one with the lower index comes first.
 *
 * @param scores [n]
 * @param count maximum number of indices
 */
export function bestIndices(scores: ArrayLike<number>, count: number): number[] {
  if (count < 1) return [];
  const better = (a: number, b: number) => (scores[b] as number) - (scores[a] as number);
  const best: number[] = [];
  let threshold = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < scores.length; i++) {
    if (best.length >= count && !((scores[i] as number) > threshold)) continue;
    best.push(i);
    if (best.length < 2 * count) continue;
    best.sort(better).length = count;
    threshold = scores[best[count - 1] as number] as number;
  }
  return best.sort(better).slice(0, count);
}
