/**
 * Looks up rows of an 8-bit table and dequantizes them with a scale per row: (value − 128) · scale
 *
 * @param table u8 [entries, width]; width is a multiple of 4
 * @param scales f32 [entries]
 * @param ids i32 [tokens]
 * @param out f32 [tokens, width]
 */
export function lookupInt8(table: usize, scales: usize, ids: usize, tokens: i32, width: i32, out: usize): void {
  const middle = i32x4.splat(128);
  for (let token = 0; token < tokens; token++) {
    const id = load<i32>(ids + (token << 2));
    const row = table + id * width;
    const scale = v128.load32_splat(scales + (id << 2));
    for (let i = 0; i < width; i += 4, out += 16) {
      const four = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(row + i)));
      v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(four, middle)), scale));
    }
  }
}

/**
 * Looks up rows of a 4-bit table and dequantizes them: (value − 8) · scale. Each group of `block` numbers has one
 * scale. A byte holds two numbers: the first number in the lower four bits, the second number in the upper four bits.
 *
 * @param table u8 [entries, width/2]; width is a multiple of 4
 * @param scales f32 [entries, width/block]; block is a multiple of 4
 * @param out f32 [tokens, width]
 */
export function lookupInt4(
  table: usize,
  scales: usize,
  ids: usize,
  tokens: i32,
  width: i32,
  block: i32,
  out: usize,
): void {
  const middle = i32x4.splat(8);
  const blocks = width / block;
  for (let token = 0; token < tokens; token++) {
    const id = load<i32>(ids + (token << 2));
    let row = table + id * (width >> 1);
    let scale = scales + ((id * blocks) << 2);
    for (let from = 0; from < width; from += block, scale += 4) {
      const factor = v128.load32_splat(scale);
      for (let i = 0; i < block; i += 4, row += 2, out += 16) {
        const bits = <i32>load<u16>(row);
        const four = i32x4(bits & 15, (bits >> 4) & 15, (bits >> 8) & 15, bits >> 12);
        v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(four, middle)), factor));
      }
    }
  }
}
