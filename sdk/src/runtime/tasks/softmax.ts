/**
 * Computes eˣ / Σ eˣ in double precision. All numbers are reduced by the largest first, so that eˣ cannot overflow.
 *
 * @param logits [n]
 * @returns [n], with the sum 1
 */
export function softmax(logits: ArrayLike<number>): Float64Array<ArrayBuffer> {
  const scores = Float64Array.from(logits);
  const largest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let sum = 0;
  for (let i = 0; i < scores.length; i++) {
    const power = Math.exp((scores[i] as number) - largest);
    scores[i] = power;
    sum += power;
  }
  return scores.map((power) => power / sum);
}
