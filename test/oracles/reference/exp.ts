import * as c from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { fround, nearest, polynomial } from "./float32.ts";

const LN2_LOW = fround(c.EXP_LN2_LOW);
const COEFFICIENTS = [c.EXP_P2, c.EXP_P3, c.EXP_P4, c.EXP_P5, c.EXP_P6, c.EXP_P7].map(fround);
/** The number at index n + 126 is 2ⁿ. */
const POWERS = Float32Array.from({ length: 254 }, (_, i) => 2 ** (i - 126));

/** Computes eˣ in float32 with x limited to −87…88. The relative error is at most 2⁻²³. */
export function exp(x: number): number {
  const limited = Math.min(Math.max(x, c.EXP_MIN), c.EXP_MAX);
  const n = nearest(fround(limited * c.LOG2_E));
  const r = fround(fround(limited - fround(n * c.EXP_LN2_HIGH)) - fround(n * LN2_LOW));
  const squared = fround(fround(polynomial(COEFFICIENTS, r) * r) * r);
  return fround(fround(fround(squared + r) + 1) * (POWERS[n + 126] as number));
}
