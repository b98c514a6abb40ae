import {
  SCORE_PARTS,
  SOFTMAX_P0,
  SOFTMAX_P1,
  SOFTMAX_P2,
  SOFTMAX_P3,
} from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { nearest } from "./float32.ts";

/**
 * Maximum distance: d = 8 minus one unit of 1/SCORE_PARTS. Larger distances count as this distance. Its result is zero.
 */
const MAX_DISTANCE = 8 * SCORE_PARTS - 1;

/**
 * Computes round(127 · 2⁻ᵈ) in 16-bit arithmetic. The error before rounding is at most 0.0061.
 *
 * @param distance d ≥ 0, the distance of a score from its row's maximum, in units of 1/SCORE_PARTS; NaN counts as the
 *   maximum distance
 */
export function numerator(distance: number): number {
  const parts = distance < MAX_DISTANCE ? nearest(distance) : MAX_DISTANCE;
  const fraction = (parts % SCORE_PARTS) << 3;
  const power =
    SOFTMAX_P0 - product(fraction, SOFTMAX_P1 - product(fraction, SOFTMAX_P2 - product(fraction, SOFTMAX_P3)));
  return product(power, 128 >> (parts >> 12));
}

/** Returns a · b / 2¹⁵, rounded like WebAssembly's i16x8.q15mulr_sat_s. */
const product = (a: number, b: number): number => (a * b + 0x4000) >> 15;
