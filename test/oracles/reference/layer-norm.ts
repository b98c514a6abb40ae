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
    const centred = x.slice(start, start + width).map((value) => value - mean);
    result.set(scaledRow(centred, gamma, beta, epsilon), start);
  }
  return result;
}

/**
 * Computes x / √(mean(x²) + epsilon) · γ for every row. See https://arxiv.org/abs/1910.07467
 *
 * @param x [rows, width]
 * @param gamma [width]
 * @returns [rows, width]
 */
export function rmsNormRows(x: Float32Array, gamma: Float32Array, epsilon: number): Float32Array {
  const width = gamma.length;
  const result = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    result.set(scaledRow(x.subarray(start, start + width), gamma, undefined, epsilon), start);
  }
  return result;
}

/** Computes x / √(mean(x²) + epsilon) · γ + β for one row. */
function scaledRow(
  x: Float32Array,
  gamma: Float32Array,
  beta: Float32Array | undefined,
  epsilon: number,
): Float32Array {
  const square = (i: number) => (x[i] as number) * (x[i] as number);
  const variance = fround(sumInLanes(x.length, square) / x.length);
  const inverse = fround(1 / fround(Math.sqrt(fround(variance + fround(epsilon)))));
  return x.map((value, i) => {
    const scaled = fround(fround(value * inverse) * (gamma[i] as number));
    return beta ? scaled + (beta[i] as number) : scaled;
  });
}
