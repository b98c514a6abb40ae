/**
 * Spearman's rank correlation: Pearson's, of ranks, equal values sharing the mean of theirs
 * (https://en.wikipedia.org/wiki/Spearman's_rank_correlation_coefficient).
 *
 * @returns from −1 to 1; NaN when all values of one list are equal, or one is NaN
 * @throws RangeError when the lists differ in length
 */
export function spearman(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new RangeError(`${a.length} values beside ${b.length}`);
  if ([...a, ...b].some(Number.isNaN)) return Number.NaN;
  return pearson(ranks(a), ranks(b));
}

/** Places from 0 on in ascending order. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((i, j) => compare(values[i] as number, values[j] as number));
  const result = new Array<number>(values.length);
  for (let begin = 0, end = 0; begin < order.length; begin = end) {
    const value = values[order[begin] as number];
    while (end < order.length && values[order[end] as number] === value) end++;
    for (const i of order.slice(begin, end)) result[i] = (begin + end - 1) / 2;
  }
  return result;
}

/** Not a difference: that of two infinities is NaN. */
const compare = (a: number, b: number): number => (a < b ? -1 : Number(a > b));

function pearson(a: readonly number[], b: readonly number[]): number {
  const [deviationsA, deviationsB] = [deviations(a), deviations(b)];
  return dot(deviationsA, deviationsB) / Math.sqrt(dot(deviationsA, deviationsA) * dot(deviationsB, deviationsB));
}

function deviations(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
