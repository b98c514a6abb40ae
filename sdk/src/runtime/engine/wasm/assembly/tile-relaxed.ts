import { dot } from "./simd";
import { CONTEXT, storeColumns } from "./store-tile";

/**
 * Computes a tile of one to six rows (`count`) and eight columns. The sums of six rows are twelve vectors, which fit
 * into registers.
 */
// @ts-ignore: decorator
@inline
export function tileRelaxed(
  form: i32,
  count: i32,
  call: usize,
  row: i32,
  column: i32,
  a: usize,
  w: usize,
  k: i32,
): void {
  let a0 = i32x4.splat(0);
  let a1 = a0;
  let b0 = a0;
  let b1 = a0;
  let c0 = a0;
  let c1 = a0;
  let d0 = a0;
  let d1 = a0;
  let e0 = a0;
  let e1 = a0;
  let f0 = a0;
  let f1 = a0;
  const to2 = <usize>k * 2;
  const to3 = <usize>k * 3;
  const to4 = <usize>k * 4;
  const to5 = <usize>k * 5;
  let p = a;
  const end = p + k;
  for (let q = w; p < end; p += 4, q += 32) {
    const w0 = v128.load(q);
    const w1 = v128.load(q, 16);
    let x = v128.load32_splat(p);
    a0 = product(form, x, w0, a0);
    a1 = product(form, x, w1, a1);
    if (count > 1) {
      x = v128.load32_splat(p + k);
      b0 = product(form, x, w0, b0);
      b1 = product(form, x, w1, b1);
    }
    if (count > 2) {
      x = v128.load32_splat(p + to2);
      c0 = product(form, x, w0, c0);
      c1 = product(form, x, w1, c1);
    }
    if (count > 3) {
      x = v128.load32_splat(p + to3);
      d0 = product(form, x, w0, d0);
      d1 = product(form, x, w1, d1);
    }
    if (count > 4) {
      x = v128.load32_splat(p + to4);
      e0 = product(form, x, w0, e0);
      e1 = product(form, x, w1, e1);
    }
    if (count > 5) {
      x = v128.load32_splat(p + to5);
      f0 = product(form, x, w0, f0);
      f1 = product(form, x, w1, f1);
    }
  }
  storeColumns(form, count, call, row, column, a0, b0, c0, d0, e0, f0);
  storeColumns(form, count, call, row, column + 4, a1, b1, c1, d1, e1, f1);
}

// @ts-ignore: decorator
@inline
function product(form: i32, x: v128, w: v128, sum: v128): v128 {
  return form == CONTEXT ? dot(w, x, sum) : dot(x, w, sum);
}
