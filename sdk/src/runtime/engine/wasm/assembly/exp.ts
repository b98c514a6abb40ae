import { NO_FRACTIONS, NO_FRACTIONS_BITS } from "./simd";

/** eˣ as reference/exp.ts has it: −87 ≤ x ≤ 88, numbers beyond count as these. */
// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  const limited = f32x4.pmin(f32x4.pmax(x, f32x4.splat(-87)), f32x4.splat(88));
  const shifted = f32x4.add(f32x4.mul(limited, f32x4.splat(LOG2_E)), f32x4.splat(NO_FRACTIONS));
  const n = f32x4.sub(shifted, f32x4.splat(NO_FRACTIONS));
  const high = f32x4.sub(limited, f32x4.mul(n, f32x4.splat(0.693359375)));
  const r = f32x4.sub(high, f32x4.mul(n, f32x4.splat(-2.1219444e-4)));
  const s = f32x4.mul(r, r);
  const p01 = f32x4.add(f32x4.splat(5.0000001201e-1), f32x4.mul(f32x4.splat(1.6666665459e-1), r));
  const p23 = f32x4.add(f32x4.splat(4.1665795894e-2), f32x4.mul(f32x4.splat(8.3334519073e-3), r));
  const p45 = f32x4.add(f32x4.splat(1.3981999507e-3), f32x4.mul(f32x4.splat(1.98756915e-4), r));
  const p = f32x4.add(f32x4.add(p01, f32x4.mul(p23, s)), f32x4.mul(p45, f32x4.mul(s, s)));
  const y = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(p, r), r), r), f32x4.splat(1));
  return f32x4.mul(y, i32x4.shl(i32x4.add(shifted, i32x4.splat(127 - NO_FRACTIONS_BITS)), 23));
}

const LOG2_E: f32 = 1.4426950408889634;
