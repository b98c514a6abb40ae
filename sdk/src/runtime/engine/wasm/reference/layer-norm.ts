import { fround, sumInLanes } from "./float32.ts";

/**
 * Computes (x − mean) / √(variance + epsilon) · γ + β for every row. See https://arxiv.org/abs/1607.06450
 *
 * @param x [rows, width]
 * @param gamma [width]
 * @param beta [width]; undefined for none
 * @returns [rows, width]
 */
export function layerNormRows(
  x: Float32Array,
  gamma: Float32Array,
  beta: Float32Array | undefined,
  epsilon: number,
): Float32Array {
  const width = gamma.length;
  const result = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    const mean = fround(sumInLanes(width, (i) => x[start + i] as number) / width);
    const centred = (i: number) => fround((x[start + i] as number) - mean);
    const variance = fround(sumInLanes(width, (i) => centred(i) * centred(i)) / width);
    const inverse = fround(1 / fround(Math.sqrt(fround(variance + fround(epsilon)))));
    for (let i = 0; i < width; i++) {
      const scaled = fround(fround(centred(i) * inverse) * (gamma[i] as number));
      result[start + i] = beta ? scaled + (beta[i] as number) : scaled;
    }
  }
  return result;
}
