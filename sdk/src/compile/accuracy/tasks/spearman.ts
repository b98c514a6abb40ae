/**
 * Computes Spearman's rank correlation: Pearson's correlation of the ranks. Equal values share the mean of their ranks:
 * https://en.wikipedia.org/wiki/Spearman's_rank_correlation_coefficient
 *
 * @returns from −1 to 1; NaN when all values of one list are equal, or any value is NaN
 * @throws RangeError when the lists differ in length
 */
export function spearman(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new RangeError(`Cannot correlate ${a.length} values with ${b.length}.`);
  if ([...a, ...b].some(Number.isNaN)) return Number.NaN;
  return pearson(ranks(a), ranks(b));
}

/** Returns the rank of each value in ascending order, starting at 0. */
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

/** Compares without subtraction, because ∞ − ∞ is NaN. */
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
