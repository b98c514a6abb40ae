/**
 * Computes x + y.
 *
 * @param x f32 [rows, width]; width is a multiple of 4
 * @param y f32 [rows or 1, width]
 * @param yBytes bytes from one row of y to the next; 0 to add the same row to every row of x
 * @param out f32 [rows, width]
 */
export function addRowsF32(x: usize, y: usize, yBytes: usize, rows: i32, width: i32, out: usize): void {
  const bytes = <usize>width << 2;
  for (let row = 0; row < rows; row++) {
    for (let i: usize = 0; i < bytes; i += 16) v128.store(out + i, f32x4.add(v128.load(x + i), v128.load(y + i)));
    x += bytes;
    y += yBytes;
    out += bytes;
  }
}

/**
 * Multiplies x · y, element by element, as in a gated feed-forward block.
 *
 * @param x f32 [rows, xStride]; reads `width` numbers of each row; width is a multiple of 4
 * @param y f32 [rows, yStride]; yStride is 0 to multiply every row of x by the same row
 * @param out f32 [rows, width]
 */
export function multiplyF32(x: usize, xStride: usize, y: usize, yStride: usize, rows: i32, width: i32, out: usize): void {
  const bytes = <usize>width << 2;
  for (let row = 0; row < rows; row++) {
    for (let i: usize = 0; i < bytes; i += 16) v128.store(out + i, f32x4.mul(v128.load(x + i), v128.load(y + i)));
    x += xStride << 2;
    y += yStride << 2;
    out += bytes;
  }
}

/**
 * Rotates each pair (x[i], x[i + size/2]) of a head by the angle of its token's position, in place.
 *
 * @param x f32 [rows, stride]; rotates `width` numbers of each row. Every `size` of these numbers are one head
 * @param size a multiple of 8
 * @param cosines f32 [rows, size/2]
 * @param sines f32 [rows, size/2]
 */
export function rotateF32(
  x: usize,
  stride: usize,
  rows: i32,
  width: i32,
  size: i32,
  cosines: usize,
  sines: usize,
): void {
  const half = <usize>size << 1;
  for (let row = 0; row < rows; row++) {
    const end = x + (<usize>width << 2);
    for (let head = x; head < end; head += half << 1) {
      for (let i: usize = 0; i < half; i += 16) {
        const first = v128.load(head + i);
        const second = v128.load(head + i + half);
        const cosine = v128.load(cosines + i);
        const sine = v128.load(sines + i);
        v128.store(head + i, f32x4.sub(f32x4.mul(first, cosine), f32x4.mul(second, sine)));
        v128.store(head + i + half, f32x4.add(f32x4.mul(second, cosine), f32x4.mul(first, sine)));
      }
    }
    x += stride << 2;
    cosines += half;
    sines += half;
  }
}
