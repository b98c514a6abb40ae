/*
 * Runs enough independent instructions on registers to keep all execution units busy, without memory access. Twelve sums
 * and their operands fit into 16 registers. The sums start with different values, so the compiler cannot merge them.
 */

/** Multiply–adds per round. */
export const INTEGER_MACS: i32 = 12 * 16;
export const FLOAT_MACS: i32 = 12 * 4;

/** Adds dot products of signed bytes and 7-bit bytes. */
export function integerPeak(rounds: i32): i32 {
  let a = i32x4.splat(1);
  let b = i32x4.splat(2);
  let c = i32x4.splat(3);
  let d = i32x4.splat(4);
  let e = i32x4.splat(5);
  let f = i32x4.splat(6);
  let g = i32x4.splat(7);
  let h = i32x4.splat(8);
  let i = i32x4.splat(9);
  let j = i32x4.splat(10);
  let k = i32x4.splat(11);
  let l = i32x4.splat(12);
  const x = i8x16.splat(<i8>rounds);
  const y = i8x16.splat(<i8>(rounds & 127));
  for (; rounds > 0; rounds--) {
    a = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, a);
    b = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, b);
    c = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, c);
    d = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, d);
    e = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, e);
    f = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, f);
    g = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, g);
    h = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, h);
    i = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, i);
    j = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, j);
    k = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, k);
    l = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, y, l);
  }
  const half = i32x4.add(i32x4.add(a, i32x4.add(b, c)), i32x4.add(d, i32x4.add(e, f)));
  const other = i32x4.add(i32x4.add(g, i32x4.add(h, i)), i32x4.add(j, i32x4.add(k, l)));
  return i32x4.extract_lane(i32x4.add(half, other), 0);
}

/** Multiplies and adds floats, with two roundings per multiply–add. */
export function floatPeak(rounds: i32): f32 {
  let a = f32x4.splat(1);
  let b = f32x4.splat(2);
  let c = f32x4.splat(3);
  let d = f32x4.splat(4);
  let e = f32x4.splat(5);
  let f = f32x4.splat(6);
  let g = f32x4.splat(7);
  let h = f32x4.splat(8);
  let i = f32x4.splat(9);
  let j = f32x4.splat(10);
  let k = f32x4.splat(11);
  let l = f32x4.splat(12);
  const x = f32x4.splat(0.5);
  const y = f32x4.splat(<f32>rounds);
  for (; rounds > 0; rounds--) {
    a = f32x4.add(f32x4.mul(a, x), y);
    b = f32x4.add(f32x4.mul(b, x), y);
    c = f32x4.add(f32x4.mul(c, x), y);
    d = f32x4.add(f32x4.mul(d, x), y);
    e = f32x4.add(f32x4.mul(e, x), y);
    f = f32x4.add(f32x4.mul(f, x), y);
    g = f32x4.add(f32x4.mul(g, x), y);
    h = f32x4.add(f32x4.mul(h, x), y);
    i = f32x4.add(f32x4.mul(i, x), y);
    j = f32x4.add(f32x4.mul(j, x), y);
    k = f32x4.add(f32x4.mul(k, x), y);
    l = f32x4.add(f32x4.mul(l, x), y);
  }
  const half = f32x4.add(f32x4.add(a, f32x4.add(b, c)), f32x4.add(d, f32x4.add(e, f)));
  const other = f32x4.add(f32x4.add(g, f32x4.add(h, i)), f32x4.add(j, f32x4.add(k, l)));
  return f32x4.extract_lane(f32x4.add(half, other), 0);
}
