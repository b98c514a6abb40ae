import {
  SCORE_PARTS,
  SOFTMAX_P0,
  SOFTMAX_P1,
  SOFTMAX_P2,
  SOFTMAX_P3,
} from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { nearest } from "./float32.ts";

/** Bits of a numerator after the point. */
export const FRACTION_BITS = 7;

/** Maximum distance: d = 16 minus one unit of 1/SCORE_PARTS. Larger distances count as this distance. */
const MAX_DISTANCE = 16 * SCORE_PARTS - 1;
/** Integer part of a distance from which the numerator is 0. */
const ZERO_FROM = 15;

/**
 * Computes 127 · 2⁻ᵈ in 16-bit arithmetic, in units of 2^−FRACTION_BITS. The error is at most 2.1 units.
 *
 * @param distance d ≥ 0, the distance of a score from its row's maximum, in units of 1/SCORE_PARTS; NaN counts as the
 *   maximum distance
 */
export function numerator(distance: number): number {
  const parts = distance < MAX_DISTANCE ? nearest(distance) : MAX_DISTANCE;
  const whole = parts >> 12;
  const fraction = (parts % SCORE_PARTS) << 3;
  const power =
    SOFTMAX_P0 - product(fraction, SOFTMAX_P1 - product(fraction, SOFTMAX_P2 - product(fraction, SOFTMAX_P3)));
  if (whole === ZERO_FROM) return 0;
  return whole < 8 ? product(power, 2 ** (14 - whole)) : product(power, 2 ** (22 - whole)) >> 8;
}

/** Returns a · b / 2¹⁵, rounded like WebAssembly's i16x8.q15mulr_sat_s. */
const product = (a: number, b: number): number => (a * b + 0x4000) >> 15;
