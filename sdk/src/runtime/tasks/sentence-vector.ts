import type { Pooling } from "../../artifact/manifest.ts";

/**
 * Vectors are divided by at least this norm, so that a zero vector stays zero. The value is the default `eps` of
 * torch.nn.functional.normalize.
 */
const MIN_NORM = 1e-12;

/**
 * Pools a text's hidden states to one vector.
 *
 * @param hiddenStates row-major [tokens, dimensions], without padding
 * @returns [dimensions], with Euclidean length 1 if `normalize` is set
 */
export function sentenceVector(
  hiddenStates: Float32Array,
  dimensions: number,
  { pooling, normalize }: { pooling: Pooling; normalize: boolean },
): Float32Array<ArrayBuffer> {
  const vector = poolers[pooling](hiddenStates, dimensions);
  return normalize ? unit(vector) : vector;
}

const poolers: Record<Pooling, (hiddenStates: Float32Array, dimensions: number) => Float32Array<ArrayBuffer>> = {
  cls: (hiddenStates, dimensions) => Float32Array.from(hiddenStates.subarray(0, dimensions)),
  last: (hiddenStates, dimensions) => Float32Array.from(hiddenStates.subarray(-dimensions)),
  mean(hiddenStates, dimensions) {
    const sum = new Float64Array(dimensions);
    for (let row = 0; row < hiddenStates.length; row += dimensions) {
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) + (hiddenStates[row + i] as number);
    }
    const tokens = hiddenStates.length / dimensions;
    return Float32Array.from(sum, (total) => total / tokens);
  },
  max(hiddenStates, dimensions) {
    const peak = Float32Array.from(hiddenStates.subarray(0, dimensions));
    hiddenStates.forEach((value, i) => {
      peak[i % dimensions] = Math.max(peak[i % dimensions] as number, value);
    });
    return peak;
  },
};

/** Divides a vector by its Euclidean length. A zero vector stays zero. */
export function unit(vector: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const norm = Math.max(Math.hypot(...vector), MIN_NORM);
  return vector.map((value) => value / norm);
}

/**
 * Computes the cosine of two vectors of equal length: 0 when either vector is zero, else NaN when either contains NaN.
 */
export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let normA = 0;
  let normB = 0;
  a.forEach((x, i) => {
    const y = b[i] as number;
    dot += x * y;
    normA += x * x;
    normB += y * y;
  });
  return normA === 0 || normB === 0 ? 0 : dot / Math.sqrt(normA * normB);
}
