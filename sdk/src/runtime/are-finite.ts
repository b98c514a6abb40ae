/** Whether no number is NaN or infinite. Sums 0 · x, which is 0 for a finite x, and NaN for all others. */
export function areFinite(numbers: Float32Array | Float64Array): boolean {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += 0 * (numbers[i] as number);
  return sum === 0;
}

/**
 * Whether numbers can be a constant of a graph. Valid are finite numbers, a single infinite number (a bound), and masks of 0 and −∞.
 */
export function canBeConstant(numbers: Float32Array | Float64Array): boolean {
  if (areFinite(numbers)) return true;
  if (numbers.some(Number.isNaN)) return false;
  return numbers.length === 1 || numbers.every((number) => number === 0 || number === Number.NEGATIVE_INFINITY);
}
