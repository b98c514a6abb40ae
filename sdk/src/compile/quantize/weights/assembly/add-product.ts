import { DEPTH } from "../product-depth";

/** Bytes of a row of `a`. */
const A_BYTES: usize = 8 * DEPTH;

/**
 * Adds a · b to `sums`, all float64. Each sum adds its products in the order of the inner dimension, so results have the
 * same bits on every machine.
 *
 * @param sums [rows, columns], `stride` bytes from row to row
 * @param a [rows, DEPTH]
 * @param b [DEPTH, columns], `stride` bytes from row to row
 * @param rows an even number
 * @param columns a multiple of 8
 */
export function addProduct(sums: usize, a: usize, b: usize, rows: usize, columns: usize, stride: usize): void {
  for (let column: usize = 0; column < 8 * columns; column += 64) {
    for (let row: usize = 0; row < rows; row += 2) {
      addTile(sums + row * stride + column, a + row * A_BYTES, b + column, stride);
    }
  }
}

/** Computes 2 rows of 8 columns, which fit the registers. */
// @ts-ignore: decorator
@inline
function addTile(sums: usize, a: usize, b: usize, stride: usize): void {
  const nextSums = sums + stride;
  const nextA = a + A_BYTES;
  let s0 = v128.load(sums);
  let s1 = v128.load(sums, 16);
  let s2 = v128.load(sums, 32);
  let s3 = v128.load(sums, 48);
  let t0 = v128.load(nextSums);
  let t1 = v128.load(nextSums, 16);
  let t2 = v128.load(nextSums, 32);
  let t3 = v128.load(nextSums, 48);
  for (let i: usize = 0; i < A_BYTES; i += 8) {
    const x = v128.load64_splat(a + i);
    const y = v128.load64_splat(nextA + i);
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(b, 32);
    const b3 = v128.load(b, 48);
    s0 = f64x2.add(s0, f64x2.mul(x, b0));
    s1 = f64x2.add(s1, f64x2.mul(x, b1));
    s2 = f64x2.add(s2, f64x2.mul(x, b2));
    s3 = f64x2.add(s3, f64x2.mul(x, b3));
    t0 = f64x2.add(t0, f64x2.mul(y, b0));
    t1 = f64x2.add(t1, f64x2.mul(y, b1));
    t2 = f64x2.add(t2, f64x2.mul(y, b2));
    t3 = f64x2.add(t3, f64x2.mul(y, b3));
    b += stride;
  }
  v128.store(sums, s0);
  v128.store(sums, s1, 16);
  v128.store(sums, s2, 32);
  v128.store(sums, s3, 48);
  v128.store(nextSums, t0);
  v128.store(nextSums, t1, 16);
  v128.store(nextSums, t2, 32);
  v128.store(nextSums, t3, 48);
}
