import { nearest } from "./float32.ts";

/** Of one, in which scores and their distances are counted. */
export const PARTS = 4096;
/** What is as far counts as this: 127 · 2⁻ᵈ rounds to zero by then. */
const FARTHEST = 8 * PARTS - 1;
/** 127 · 2⁸ · 2⁻ᶠ for 0 ≤ f < 1, f's lowest power first, signs alternating: Lawson's iteration, then the best near it. */
const [C0, C1, C2, C3] = [32510, 22467, 7476, 1264] as const;

/**
 * 127 · 2⁻ᵈ as a whole number, in 16-bit arithmetic: before it rounds, 0.0061 off at most.
 *
 * @param distance d ≥ 0 in parts of one; NaN counts as far
 */
export function numerator(distance: number): number {
  const parts = distance < FARTHEST ? nearest(distance) : FARTHEST;
  const fraction = (parts % PARTS) << 3;
  const power = C0 - product(fraction, C1 - product(fraction, C2 - product(fraction, C3)));
  return product(power, 128 >> (parts >> 12));
}

/** a · b / 2¹⁵, rounded: WebAssembly's i16x8.q15mulr_sat_s. */
const product = (a: number, b: number): number => (a * b + 0x4000) >> 15;
