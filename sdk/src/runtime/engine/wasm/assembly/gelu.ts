/*
 * x · (½ + c · P(c²)), c = x within ± a limit. Coefficients of P, lowest power first, the limit and ½: build/scalar/activation.ts.
 * They are loaded before the loop: as literals they would be made anew each time round.
 */
const STANDARD: usize = memory.data<f32>([
  0.39849406480789185, -0.06557485461235046, 0.009323855862021446, -0.0009572345879860222, 6.778300303267315e-5,
  -3.103828930761665e-6, 8.191559430770212e-8, -9.399784284269685e-10, 4.149933, 0.5,
]);
const FAST: usize = memory.data<f32>([
  0.39852944016456604, -0.0659407451748848, 0.00955999456346035, -0.0010169390588998795, 7.552374881925061e-5,
  -3.651868610177189e-6, 1.0208172795955761e-7, -1.241882485736312e-9, 4.049768, 0.5,
]);

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
  const limit = v128.load32_splat(constants, 32);
  const least = f32x4.neg(limit);
  const half = v128.load32_splat(constants, 36);
  const skipped = (stride - width) << 2;
  for (let row = 0; row < rows; row++, x += skipped) {
    for (const end = x + (width << 2); x < end; x += 16, out += 16) {
      const value = v128.load(x);
      const c = f32x4.pmin(f32x4.pmax(value, least), limit);
      const s = f32x4.mul(c, c);
      const t = f32x4.mul(s, s);
      const p01 = f32x4.add(c0, f32x4.mul(c1, s));
      const p23 = f32x4.add(c2, f32x4.mul(c3, s));
      const p45 = f32x4.add(c4, f32x4.mul(c5, s));
      const p67 = f32x4.add(c6, f32x4.mul(c7, s));
      const p03 = f32x4.add(p01, f32x4.mul(p23, t));
      const p47 = f32x4.add(p45, f32x4.mul(p67, t));
      const p = f32x4.add(p03, f32x4.mul(p47, f32x4.mul(t, t)));
      v128.store(out, f32x4.mul(value, f32x4.add(f32x4.mul(p, c), half)));
    }
  }
}
