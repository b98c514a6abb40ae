/*
 * max(x, 0) − t · P(t), t = |x| up to a limit: coefficients of P, lowest power first, and the limit are in
 * reference/activation.ts. They are loaded before the loop: as literals they would be made anew each time round.
 */
const STANDARD: usize = memory.data<f32>([
  0.5, -0.39423221349716187, -0.020834000781178474, 0.09897705167531967, -0.020844843238592148, -0.0080620888620615,
  0.004289180971682072, -0.0007115280022844672, 4.206572339171544e-5, 4.1599955558776855,
]);
const FAST: usize = memory.data<f32>([
  0.5, -0.3950502574443817, -0.017751216888427734, 0.09523866325616837, -0.01841670274734497, -0.009086916223168373,
  0.004570500925183296, -0.0007554974872618914, 4.495126268011518e-5, 4.0399980545043945,
]);
/** All bits but the sign. */
const MAGNITUDE: usize = memory.data<u32>([0x7fffffff]);

/**
 * x · Φ(x), element by element
 *
 * @param x f32 [rows, stride], `width` numbers of each row, a multiple of 4
 * @param out f32 [rows, width]
 */
export function gelu(x: usize, stride: i32, rows: i32, width: i32, out: usize): void {
  each(STANDARD, x, stride, rows, width, out);
}

/** x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), likewise */
export function fastGelu(x: usize, stride: i32, rows: i32, width: i32, out: usize): void {
  each(FAST, x, stride, rows, width, out);
}

function each(constants: usize, x: usize, stride: i32, rows: i32, width: i32, out: usize): void {
  const c0 = v128.load32_splat(constants);
  const c1 = v128.load32_splat(constants, 4);
  const c2 = v128.load32_splat(constants, 8);
  const c3 = v128.load32_splat(constants, 12);
  const c4 = v128.load32_splat(constants, 16);
  const c5 = v128.load32_splat(constants, 20);
  const c6 = v128.load32_splat(constants, 24);
  const c7 = v128.load32_splat(constants, 28);
  const c8 = v128.load32_splat(constants, 32);
  const limit = v128.load32_splat(constants, 36);
  const magnitude = v128.load32_splat(MAGNITUDE);
  const zero = i32x4.splat(0);
  const skipped = (stride - width) << 2;
  for (let row = 0; row < rows; row++, x += skipped) {
    for (const end = x + (width << 2); x < end; x += 16, out += 16) {
      const value = v128.load(x);
      const t = f32x4.pmin(v128.and(value, magnitude), limit);
      const s = f32x4.mul(t, t);
      const ss = f32x4.mul(s, s);
      const p01 = f32x4.add(c0, f32x4.mul(c1, t));
      const p23 = f32x4.add(c2, f32x4.mul(c3, t));
      const p45 = f32x4.add(c4, f32x4.mul(c5, t));
      const p67 = f32x4.add(c6, f32x4.mul(c7, t));
      const p03 = f32x4.add(p01, f32x4.mul(p23, s));
      const p47 = f32x4.add(p45, f32x4.mul(p67, s));
      const p07 = f32x4.add(p03, f32x4.mul(p47, ss));
      const p = f32x4.add(p07, f32x4.mul(c8, f32x4.mul(ss, ss)));
      v128.store(out, f32x4.sub(f32x4.pmax(zero, value), f32x4.mul(p, t)));
    }
  }
}
