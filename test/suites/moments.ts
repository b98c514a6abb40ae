import { compensation } from "../../sdk/src/build/quantize/weights/compensation.ts";
import type { Moments } from "../../sdk/src/build/quantize/weights/moments.ts";
import { randomNumbers } from "./seeded.ts";

/** Tokens of correlated numbers: each is a mixture of three causes, with some noise around a mean of its own. */
export function correlatedTokens(width: number, tokens: number, seed: number): Float32Array[] {
  const random = randomNumbers(seed);
  const mixing = Array.from({ length: width * 3 }, () => 2 * random() - 1);
  return Array.from({ length: tokens }, () => {
    const causes = [random(), random(), 2 * random() - 1];
    return Float32Array.from({ length: width }, (_, i) =>
      causes.reduce((total, cause, j) => total + cause * (mixing[i * 3 + j] as number), 0.2 * random()),
    );
  });
}

/** Σ x and Σ x xᵀ, in float64 until the end. */
export function momentsOf(x: readonly Float32Array[]): Moments {
  const width = x[0]?.length ?? 0;
  const total = (term: (row: Float32Array) => number) => x.reduce((sum, row) => sum + term(row), 0);
  return {
    width,
    tokens: x.length,
    sum: Float32Array.from({ length: width }, (_, i) => total((row) => row[i] as number)),
    products: Float32Array.from({ length: width * width }, (_, at) =>
      total((row) => (row[Math.floor(at / width)] as number) * (row[at % width] as number)),
    ),
  };
}

/** As `compensation` documents it, of the mean of the diagonal. */
const DAMPING = 0.01;

/** Σ x xᵀ with its damping, rows and columns as they are. */
export function damped({ width, products }: Moments): (i: number, j: number) => number {
  const mean =
    Array.from({ length: width }, (_, i) => products[i * (width + 1)] as number).reduce((a, b) => a + b) / width;
  return (i, j) => (products[i * width + j] as number) + (i === j ? DAMPING * mean || 1 : 0);
}

/**
 * The L[k, k]² with which the factors of a compensation make the diagonal of LᵀL that of the damped moments, and how far
 * its other elements are from theirs, as a share of the largest.
 */
export function factorisation(moments: Moments): { pivots: number[]; difference: number } {
  const { width } = moments;
  const { order, factors } = compensation(moments);
  const h = damped(moments);
  const wanted = (i: number, j: number) => h(order[i] as number, order[j] as number);
  const factor = (k: number, j: number) => (j === k ? 1 : (factors[k * width + j] as number));
  const pivots = new Array<number>(width).fill(0);
  const found = (from: number, i: number, j: number) => {
    let total = 0;
    for (let k = from; k < width; k++) total += (pivots[k] as number) * factor(k, i) * factor(k, j);
    return total;
  };
  let [difference, largest] = [0, 0];
  for (let j = width - 1; j >= 0; j--) {
    pivots[j] = wanted(j, j) - found(j + 1, j, j);
    largest = Math.max(largest, wanted(j, j));
    for (let i = 0; i < j; i++) difference = Math.max(difference, Math.abs(wanted(i, j) - found(j, i, j)));
  }
  return { pivots, difference: difference / largest };
}
