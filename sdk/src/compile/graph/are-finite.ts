/** Whether no number is NaN or infinite. 0 · x is 0 for finite numbers, and NaN for all others. */
export function areFinite(numbers: Float32Array | Float64Array): boolean {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += 0 * (numbers[i] as number);
  return sum === 0;
}
