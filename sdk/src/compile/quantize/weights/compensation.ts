import { release } from "../../files/large-buffers.ts";
import { type Moments, meanSquares } from "./moments.ts";

/**
 * How rounding errors of earlier inputs are made up for by later ones. For second moments H = E[x xᵀ] = LᵀL with L lower
 * triangular, a linear map's squared error is |L(w − q)|² = Σₖ (Lₖₖ(wₖ − qₖ) + Σⱼ₍ⱼ﹤ₖ₎ Lₖⱼ(wⱼ − qⱼ))², and inputs are rounded one
 * after the other so that each term is as small as it can be.
 *
 * GPTQ, https://arxiv.org/abs/2210.17323, in the form of Babai's nearest plane, https://arxiv.org/abs/2507.18553.
 */
export interface Compensation {
  /** Inputs in the order in which they are rounded: those that matter most first. */
  readonly order: Uint32Array;
  /** Row k holds Lₖⱼ / Lₖₖ for j < k, in that order: [in, in]. */
  readonly factors: Float32Array<ArrayBuffer>;
}

/** Rounding of the sums may leave less than the damping of a pivot, never less than this share of it. */
const LEAST_PIVOT = 1e-6;

/** Added to the diagonal, as a share of its mean: keeps inputs that hardly vary from taking on the errors of all others. */
const DAMPING = 0.01;

export function compensation({ width: size, products }: Moments): Compensation {
  const diagonal = meanSquares({ width: size, products });
  const damping = (DAMPING * diagonal.reduce((sum, value) => sum + value, 0)) / size || 1;
  const order = Uint32Array.from(diagonal.keys()).sort((a, b) => (diagonal[b] as number) - (diagonal[a] as number));
  const c = cholesky(products, order.toReversed(), damping);
  const factors = new Float32Array(size * size);
  for (let k = 0; k < size; k++) {
    const column = size - 1 - k;
    const pivot = c[column * size + column] as number;
    for (let j = 0; j < k; j++) factors[k * size + j] = (c[(size - 1 - j) * size + column] as number) / pivot;
  }
  release(c);
  return { order, factors };
}

/** C with C Cᵀ = H + damping, rows and columns in the given order; in reverse order of L, whose element kj is C[n−1−j, n−1−k]. */
function cholesky(moments: Float32Array, order: Uint32Array, damping: number): Float64Array<ArrayBuffer> {
  const size = order.length;
  const c = new Float64Array(size * size);
  for (let row = 0; row < size; row++) {
    const from = (order[row] as number) * size;
    const here = c.subarray(row * size, (row + 1) * size);
    for (let column = 0; column <= row; column++) {
      const there = c.subarray(column * size, column * size + column);
      let sum = moments[from + (order[column] as number)] as number;
      if (column === row) sum += damping;
      for (let i = 0; i < column; i++) sum -= (here[i] as number) * (there[i] as number);
      here[column] =
        column === row ? Math.sqrt(Math.max(sum, LEAST_PIVOT * damping)) : sum / (c[column * size + column] as number);
    }
  }
  return c;
}
