import { type GramBlock, type ScaledStatistics, sumsOfSquares } from "../calibration/activation-statistics.ts";
import { addProduct, float64Arrays, padded } from "./add-product.ts";
import { DEPTH } from "./product-depth.ts";

/**
 * Factors for GPTQ (https://arxiv.org/abs/2210.17323), in the form of Babai's nearest plane algorithm
 * (https://arxiv.org/abs/2507.18553). GPTQ rounds the weights of an output one after the other. Before it rounds a
 * weight, it adds a correction for the rounding errors of the previous weights.
 *
 * The Gram matrix is H = Σ x xᵀ = LᵀL, where L is lower triangular. Let w be the weights of an output, and q the
 * rounded weights. The squared error of the output is
 * |L(w − q)|² = Σₖ (Lₖₖ(wₖ − qₖ) + Σⱼ₍ⱼ﹤ₖ₎ Lₖⱼ(wⱼ − qⱼ))².
 * The correction of wₖ is Σⱼ₍ⱼ﹤ₖ₎ (Lₖⱼ / Lₖₖ)(wⱼ − qⱼ). Rounding wₖ plus this correction minimizes the k-th term.
 *
 * Each block of the Gram matrix has factors of its own.
 */
export interface GptqFactors {
  /** The block's inputs in the order in which their weights are rounded: inputs with the largest mean square first. */
  readonly order: Uint32Array;
  /** [block width, block width], with rows and columns sorted as in `order`. Row k holds Lₖⱼ / Lₖₖ for j < k. */
  readonly factors: Float32Array<ArrayBuffer>;
}

/** Minimum pivot, as a share of the damping. Without a minimum, rounding errors could make a pivot zero or negative. */
const MIN_PIVOT = 1e-6;

/**
 * Damping, as a share of the mean of the block's diagonal. Some inputs are always near zero. Without damping,
 * GPTQ would greatly change their weights to compensate the errors of all other inputs.
 */
const DAMPING = 0.01;

/** Returns the number that is added to the diagonal of a block. */
export const dampingOf = (diagonal: Float64Array): number =>
  (DAMPING * diagonal.reduce((sum, square) => sum + square, 0)) / diagonal.length || 1;

/** Number of rows of a matrix that are copied or multiplied together, so that they stay in the cache. */
const ROWS = 64;

export function gptqFactors(statistics: ScaledStatistics, block: GramBlock): GptqFactors {
  const { start: first, width: size } = block;
  const diagonal = sumsOfSquares(statistics);
  const inputs = Uint32Array.from({ length: size }, (_, i) => first + i);
  const damping = dampingOf(diagonal.subarray(first, first + size));
  const order = inputs.sort((a, b) => (diagonal[b] as number) - (diagonal[a] as number));
  const { c, stride } = cholesky(statistics, block, order.toReversed(), damping);
  const factors = new Float32Array(size * size);
  for (let start = 0; start < size; start += ROWS) {
    const end = Math.min(start + ROWS, size);
    for (let j = 0; j < end; j++) {
      for (let k = Math.max(start, j + 1); k < end; k++) {
        const column = size - 1 - k;
        const pivot = c[column * stride + column] as number;
        factors[k * size + j] = (c[(size - 1 - j) * stride + column] as number) / pivot;
      }
    }
  }
  return { order, factors };
}

/**
 * Computes the lower triangular C with C Cᵀ = H + damping · I, where H is a block whose rows and columns are sorted as in
 * `order`. L has the reverse order: Lₖⱼ = C[n−1−j, n−1−k].
 *
 * @returns `c` with `stride` columns. Its lower triangle holds C. The next call of `float64Arrays` makes `c` invalid.
 */
function cholesky(
  { gram, factors }: ScaledStatistics,
  block: GramBlock,
  order: Uint32Array,
  damping: number,
): { readonly c: Float64Array; readonly stride: number } {
  const size = order.length;
  const stride = padded(size);
  // A panel is DEPTH columns. Until a column is computed, it holds C Cᵀ − H − damping · I, where C Cᵀ includes only the
  // columns of the previous panels.
  const [c, rowsOfPanel, panel] = float64Arrays(stride * stride, stride * DEPTH, DEPTH * stride);
  for (let row = 0; row < size; row++) {
    const from = block.offset + ((order[row] as number) - block.start) * size - block.start;
    const factor = factors?.[order[row] as number] ?? 1;
    for (let column = 0; column <= row; column++) {
      const other = order[column] as number;
      c[row * stride + column] = -(gram[from + other] as number) * factor * (factors ? (factors[other] as number) : 1);
    }
    c[row * stride + row] = (c[row * stride + row] as number) - damping;
  }
  for (let start = 0; start < size; start += DEPTH) {
    const end = Math.min(start + DEPTH, size);
    for (let row = start; row < size; row++) {
      const here = row * stride;
      for (let column = start; column <= Math.min(row, end - 1); column++) {
        const there = column * stride;
        let sum = -(c[here + column] as number);
        for (let i = start; i < column; i++) sum -= (c[here + i] as number) * (c[there + i] as number);
        const value =
          column === row ? Math.sqrt(Math.max(sum, MIN_PIVOT * damping)) : sum / (c[there + column] as number);
        c[here + column] = value;
        rowsOfPanel[row * DEPTH + column - start] = value;
        panel[(column - start) * stride + row] = value;
      }
    }
    for (let row = end; row < size; row += ROWS) {
      const to = Math.min(row + ROWS, stride);
      addProduct(c.subarray(row * stride + end), rowsOfPanel.subarray(row * DEPTH), panel.subarray(end), {
        rows: to - row,
        columns: to - end,
        stride,
      });
    }
  }
  return { c, stride };
}

/**
 * Adds the corrections to the weights of an input, and rounds the sums. Writes each original weight minus the rounded
 * weight to `errors`.
 *
 * @param corrections [out]
 * @param errors [out]
 */
export type RoundInput = (input: number, corrections: Float64Array, errors: Float64Array) => void;

/**
 * Rounds the weights of all inputs of a block in GPTQ's order. Each weight is first corrected for the rounding errors of the
 * previous weights of the same output.
 */
export function roundInOrder({ order, factors }: GptqFactors, outputs: number, round: RoundInput): void {
  const size = order.length;
  const stride = padded(outputs);
  const [corrections, errors, factorsAfter] = float64Arrays(
    padded(size) * stride,
    DEPTH * stride,
    padded(size) * DEPTH,
  );
  for (let start = 0; start < size; start += DEPTH) {
    const end = Math.min(start + DEPTH, size);
    for (let k = start; k < end; k++) {
      const correction = corrections.subarray(k * stride, (k + 1) * stride);
      for (let j = start; j < k; j++) {
        const factor = factors[k * size + j] as number;
        const error = errors.subarray((j - start) * stride, (j - start + 1) * stride);
        for (let output = 0; output < outputs; output++) {
          correction[output] = (correction[output] as number) + factor * (error[output] as number);
        }
      }
      round(order[k] as number, correction, errors.subarray((k - start) * stride, (k - start + 1) * stride));
    }
    for (let k = end; k < size; k++) {
      const from = k * size + start;
      factorsAfter.set(factors.subarray(from, from + DEPTH), (k - end) * DEPTH);
    }
    addProduct(corrections.subarray(end * stride), factorsAfter, errors, {
      rows: padded(size - end),
      columns: stride,
      stride,
    });
  }
}
