import {
  EXP_LN2_HIGH,
  EXP_LN2_LOW,
  EXP_MAX,
  EXP_MIN,
  EXP_P2,
  EXP_P3,
  EXP_P4,
  EXP_P5,
  EXP_P6,
  EXP_P7,
  LOG2_E,
  NO_FRACTIONS,
  NO_FRACTIONS_BITS,
} from "../constants/arithmetic";

/** Computes eˣ with x limited to −87…88. The result has the same bits as test/oracles/reference/exp.ts. */
// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  const limited = f32x4.pmin(f32x4.pmax(x, f32x4.splat(<f32>EXP_MIN)), f32x4.splat(<f32>EXP_MAX));
  const shifted = f32x4.add(f32x4.mul(limited, f32x4.splat(<f32>LOG2_E)), f32x4.splat(<f32>NO_FRACTIONS));
  const n = f32x4.sub(shifted, f32x4.splat(<f32>NO_FRACTIONS));
  const high = f32x4.sub(limited, f32x4.mul(n, f32x4.splat(<f32>EXP_LN2_HIGH)));
  const r = f32x4.sub(high, f32x4.mul(n, f32x4.splat(<f32>EXP_LN2_LOW)));
  const s = f32x4.mul(r, r);
  const p01 = f32x4.add(f32x4.splat(<f32>EXP_P2), f32x4.mul(f32x4.splat(<f32>EXP_P3), r));
  const p23 = f32x4.add(f32x4.splat(<f32>EXP_P4), f32x4.mul(f32x4.splat(<f32>EXP_P5), r));
  const p45 = f32x4.add(f32x4.splat(<f32>EXP_P6), f32x4.mul(f32x4.splat(<f32>EXP_P7), r));
  const p = f32x4.add(f32x4.add(p01, f32x4.mul(p23, s)), f32x4.mul(p45, f32x4.mul(s, s)));
  const y = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(p, r), r), r), f32x4.splat(1));
  return f32x4.mul(y, i32x4.shl(i32x4.add(shifted, i32x4.splat(127 - NO_FRACTIONS_BITS)), 23));
}
