import { release } from "../../files/large-buffers.ts";
import { type ActivationStatistics, sumsOfSquares } from "../calibration/activation-statistics.ts";

/**
 * Factors for GPTQ (https://arxiv.org/abs/2210.17323), in the form of Babai's nearest plane algorithm
 * (https://arxiv.org/abs/2507.18553). GPTQ rounds the weights of an output one after the other. Before it rounds a
 * weight, it adds a correction for the rounding errors of the previous weights.
 *
 * The Gram matrix is H = Σ x xᵀ = LᵀL with L lower triangular. The squared error of a linear layer is
 * |L(w − q)|² = Σₖ (Lₖₖ(wₖ − qₖ) + Σⱼ₍ⱼ﹤ₖ₎ Lₖⱼ(wⱼ − qⱼ))². Rounding wₖ plus its correction minimizes the k-th term.
 */
export interface GptqFactors {
  /** Order in which the weights of the inputs are rounded: inputs with the largest mean square first. */
  readonly order: Uint32Array;
  /** [in, in]. Row k holds Lₖⱼ / Lₖₖ for j < k; rows and columns are in `order`. */
  readonly factors: Float32Array<ArrayBuffer>;
}

/** Minimum pivot relative to the damping. Rounding errors could make a pivot zero or negative. */
const MIN_PIVOT = 1e-6;

/** Damping relative to the mean of the diagonal. It keeps inputs near zero from compensating the errors of all others. */
const DAMPING = 0.01;

export function gptqFactors({ width: size, gram }: ActivationStatistics): GptqFactors {
  const diagonal = sumsOfSquares({ width: size, gram });
  const damping = (DAMPING * diagonal.reduce((sum, value) => sum + value, 0)) / size || 1;
  const order = Uint32Array.from(diagonal.keys()).sort((a, b) => (diagonal[b] as number) - (diagonal[a] as number));
  const c = cholesky(gram, order.toReversed(), damping);
  const factors = new Float32Array(size * size);
  for (let k = 0; k < size; k++) {
    const column = size - 1 - k;
    const pivot = c[column * size + column] as number;
    for (let j = 0; j < k; j++) factors[k * size + j] = (c[(size - 1 - j) * size + column] as number) / pivot;
  }
  release(c);
  return { order, factors };
}

/**
 * Computes C with C Cᵀ = H + damping · I, with rows and columns of H in the given order. L has the reverse order:
 * Lₖⱼ = C[n−1−j, n−1−k].
 */
function cholesky(gram: Float32Array, order: Uint32Array, damping: number): Float64Array<ArrayBuffer> {
  const size = order.length;
  const c = new Float64Array(size * size);
  for (let row = 0; row < size; row++) {
    const from = (order[row] as number) * size;
    const here = c.subarray(row * size, (row + 1) * size);
    for (let column = 0; column <= row; column++) {
      const there = c.subarray(column * size, column * size + column);
      let sum = gram[from + (order[column] as number)] as number;
      if (column === row) sum += damping;
      for (let i = 0; i < column; i++) sum -= (here[i] as number) * (there[i] as number);
      here[column] =
        column === row ? Math.sqrt(Math.max(sum, MIN_PIVOT * damping)) : sum / (c[column * size + column] as number);
    }
  }
  return c;
}
