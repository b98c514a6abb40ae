/** Index of the largest number, the first of equals. */
export const topLabel = (logits: Float32Array): number => logits.indexOf(Math.max(...logits));

/**
 * How many of two lists' labels agree, in points (per hundred): accuracy beside the true ones, agreement beside another
 * model's. NaN for empty lists.
 *
 * @throws RangeError when the lists differ in length
 */
export function agreement(found: readonly number[], expected: readonly number[]): number {
  if (found.length !== expected.length) throw new RangeError(`${found.length} labels beside ${expected.length}`);
  return (100 * found.filter((label, i) => label === expected[i]).length) / expected.length;
}
