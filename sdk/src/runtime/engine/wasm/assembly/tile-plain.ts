import { storeColumns } from "./store-tile";

/**
 * Computes a tile of one or two rows (`count`) and eight columns, without relaxed SIMD. Bytes are extended to 16-bit
 * numbers. One instruction multiplies these numbers and adds neighbouring products. Neighbouring sums are added at the
 * end. The result has the same bits as the result of tileRelaxed.
 */
// @ts-ignore: decorator
@inline
export function tilePlain(
  form: i32,
  count: i32,
  call: usize,
  row: i32,
  column: i32,
  a: usize,
  w: usize,
  k: i32,
): void {
  let a01 = i32x4.splat(0);
  let a23 = a01;
  let a45 = a01;
  let a67 = a01;
  let b01 = a01;
  let b23 = a01;
  let b45 = a01;
  let b67 = a01;
  let p = a;
  const end = p + k;
  for (let q = w; p < end; p += 4, q += 32) {
    const w01 = v128.load8x8_s(q);
    const w23 = v128.load8x8_s(q, 8);
    const w45 = v128.load8x8_s(q, 16);
    const w67 = v128.load8x8_s(q, 24);
    let x = i16x8.extend_low_i8x16_s(v128.load32_splat(p));
    a01 = i32x4.add(a01, i32x4.dot_i16x8_s(x, w01));
    a23 = i32x4.add(a23, i32x4.dot_i16x8_s(x, w23));
    a45 = i32x4.add(a45, i32x4.dot_i16x8_s(x, w45));
    a67 = i32x4.add(a67, i32x4.dot_i16x8_s(x, w67));
    if (count > 1) {
      x = i16x8.extend_low_i8x16_s(v128.load32_splat(p + k));
      b01 = i32x4.add(b01, i32x4.dot_i16x8_s(x, w01));
      b23 = i32x4.add(b23, i32x4.dot_i16x8_s(x, w23));
      b45 = i32x4.add(b45, i32x4.dot_i16x8_s(x, w45));
      b67 = i32x4.add(b67, i32x4.dot_i16x8_s(x, w67));
    }
  }
  const x0 = pairwise(a01, a23);
  const y0 = pairwise(b01, b23);
  storeColumns(form, count, call, row, column, x0, y0, x0, x0, x0, x0);
  const x1 = pairwise(a45, a67);
  const y1 = pairwise(b45, b67);
  storeColumns(form, count, call, row, column + 4, x1, y1, x1, x1, x1, x1);
}

/** Adds neighbouring lanes. @returns the two sums of a, followed by the two sums of b */
// @ts-ignore: decorator
@inline
function pairwise(a: v128, b: v128): v128 {
  return i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7));
}
