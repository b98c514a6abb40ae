import type { GramBlock, ScaledStatistics } from "../calibration/activation-statistics.ts";
import { dampingOf } from "./gptq.ts";

/** Passes over all weights. Later passes change few of them. */
const PASSES = 3;

/** Returns a block of the Gram matrix H = Σ x xᵀ with GPTQ's damping on its diagonal, [width, width]. */
export function dampedGram({ gram, factors }: ScaledStatistics, { start, width, offset }: GramBlock): Float64Array {
  const damped = new Float64Array(width * width);
  for (let row = 0; row < width; row++) {
    const factor = factors?.[start + row] ?? 1;
    for (let column = 0; column < width; column++) {
      const at = row * width + column;
      damped[at] = (gram[offset + at] as number) * factor * (factors?.[start + column] ?? 1);
    }
  }
  const diagonal = Float64Array.from({ length: width }, (_, i) => damped[i * (width + 1)] as number);
  const damping = dampingOf(diagonal);
  for (let i = 0; i < width; i++) damped[i * (width + 1)] = (diagonal[i] as number) + damping;
  return damped;
}

/**
 * Rounds the weights of one output again, one after the other, while all others stay as they are. GPTQ rounds each weight once, and
 * corrects later weights only. The error (w − q)ᵀ H (w − q) of the output never rises.
 *
 * With e = w − q, the error as a function of qₖ alone is smallest at qₖ + (H e)ₖ / Hₖₖ.
 *
 * @param gram H, [width, width]
 * @param errors e, [width]. Updated
 * @param rounded q, [width], from `start` on. Updated
 * @param nearest rounds a number to a value that weight k can have
 */
export function descend(
  gram: Float64Array,
  errors: Float64Array,
  rounded: Float64Array,
  nearest: (number: number, k: number) => number,
): void {
  const width = errors.length;
  const slopes = new Float64Array(width);
  const add = (k: number, factor: number) => {
    const from = k * width;
    for (let i = 0; i < width; i++) slopes[i] = (slopes[i] as number) + (gram[from + i] as number) * factor;
  };
  for (let k = 0; k < width; k++) if (errors[k] !== 0) add(k, errors[k] as number);
  for (let pass = 0; pass < PASSES; pass++) {
    for (let k = 0; k < width; k++) {
      const value = rounded[k] as number;
      const better = nearest(value + (slopes[k] as number) / (gram[k * (width + 1)] as number), k);
      if (better === value) continue;
      rounded[k] = better;
      errors[k] = (errors[k] as number) - (better - value);
      add(k, value - better);
    }
  }
}
