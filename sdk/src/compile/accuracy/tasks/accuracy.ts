/** Returns the largest number; NaN if any number is NaN. Lists of a whole vocabulary are too long for Math.max(...). */
export const largest = (numbers: Float32Array): number =>
  numbers.reduce((max, value) => Math.max(max, value), Number.NEGATIVE_INFINITY);

/** Returns the index of the largest logit, or the first of equal ones. */
export const topLabel = (logits: Float32Array): number => logits.indexOf(largest(logits));

/**
 * Returns the percentage of labels that agree between two lists. NaN for empty lists.
 *
 * @throws RangeError when the lists differ in length
 */
export function agreement(found: readonly number[], expected: readonly number[]): number {
  if (found.length !== expected.length)
    throw new RangeError(`Cannot compare ${found.length} labels with ${expected.length}.`);
  return (100 * found.filter((label, i) => label === expected[i]).length) / expected.length;
}
