import { sumOf } from "./simd";

/** torch.nn.functional.normalize's eps */
const LEAST_NORM: f32 = 1e-12;

/**
 * The mean of all rows.
 *
 * @param x f32 [rows, width], width a multiple of 4
 * @param out f32 [width]
 */
export function poolMean(x: usize, rows: i32, width: i32, out: usize): void {
  const bytes = <usize>width << 2;
  const count = f32x4.splat(<f32>rows);
  for (let i: usize = 0; i < bytes; i += 16) {
    let sum = f32x4.splat(0);
    let p = x + i;
    for (let row = 0; row < rows; row++, p += bytes) sum = f32x4.add(sum, v128.load(p));
    v128.store(out + i, f32x4.div(sum, count));
  }
}

/** The greatest of all rows, as poolMean. */
export function poolMax(x: usize, rows: i32, width: i32, out: usize): void {
  const bytes = <usize>width << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    let p = x + i;
    let greatest = v128.load(p);
    for (let row = 1; row < rows; row++) greatest = f32x4.pmax(greatest, v128.load((p += bytes)));
    v128.store(out + i, greatest);
  }
}

/** x / |x|, in place: f32 [width], a multiple of 4. */
export function normalise(x: usize, width: i32): void {
  const end = x + (<usize>width << 2);
  let sums = f32x4.splat(0);
  for (let p = x; p < end; p += 16) sums = f32x4.add(sums, f32x4.mul(v128.load(p), v128.load(p)));
  const norm = f32x4.splat(max(sqrt<f32>(sumOf(sums)), LEAST_NORM));
  for (let p = x; p < end; p += 16) v128.store(p, f32x4.div(v128.load(p), norm));
}
