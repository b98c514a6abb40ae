import {
  FAST_GELU_LIMIT,
  FAST_GELU_P0,
  FAST_GELU_P1,
  FAST_GELU_P2,
  FAST_GELU_P3,
  FAST_GELU_P4,
  FAST_GELU_P5,
  FAST_GELU_P6,
  FAST_GELU_P7,
  FAST_GELU_P8,
  GELU_LIMIT,
  GELU_P0,
  GELU_P1,
  GELU_P2,
  GELU_P3,
  GELU_P4,
  GELU_P5,
  GELU_P6,
  GELU_P7,
  GELU_P8,
} from "../constants/arithmetic";

/*
 * GELU is computed as max(x, 0) − t · P(t) with t = min(|x|, limit). P is a polynomial, see constants/arithmetic.ts.
 * The coefficients and the limit are loaded from memory before the loop. Literals would be built again for every
 * vector.
 */
const STANDARD: usize = memory.data<f32>([
  <f32>GELU_P0,
  <f32>GELU_P1,
  <f32>GELU_P2,
  <f32>GELU_P3,
  <f32>GELU_P4,
  <f32>GELU_P5,
  <f32>GELU_P6,
  <f32>GELU_P7,
  <f32>GELU_P8,
  <f32>GELU_LIMIT,
]);
const FAST: usize = memory.data<f32>([
  <f32>FAST_GELU_P0,
  <f32>FAST_GELU_P1,
  <f32>FAST_GELU_P2,
  <f32>FAST_GELU_P3,
  <f32>FAST_GELU_P4,
  <f32>FAST_GELU_P5,
  <f32>FAST_GELU_P6,
  <f32>FAST_GELU_P7,
  <f32>FAST_GELU_P8,
  <f32>FAST_GELU_LIMIT,
]);
/** Mask of all bits except the sign. */
const MAGNITUDE: usize = memory.data<u32>([0x7fffffff]);

/**
 * Computes GELU, x · Φ(x), element by element.
 *
 * @param x f32 [rows, stride]; reads `width` numbers of each row; width is a multiple of 4
 * @param out f32 [rows, width]
 */
export function geluF32(x: usize, stride: i32, rows: i32, width: i32, out: usize): void {
  each(STANDARD, x, stride, rows, width, out);
}

/**
 * Computes the tanh approximation of GELU, x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))). Takes the same
 * parameters as geluF32.
 */
export function fastGeluF32(x: usize, stride: i32, rows: i32, width: i32, out: usize): void {
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
