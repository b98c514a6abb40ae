import {
  LEVEL_0,
  LEVEL_1,
  LEVEL_2,
  LEVEL_3,
  LEVEL_4,
  LEVEL_5,
  LEVEL_6,
  LEVEL_7,
} from "../constants/arithmetic";

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

/** The numbers that the codes 0 to 15 stand for. */
// biome-ignore format: one row for the numbers below zero, one for those above
const LEVELS: usize = memory.data<i8>([
  <i8>-LEVEL_7, <i8>-LEVEL_6, <i8>-LEVEL_5, <i8>-LEVEL_4, <i8>-LEVEL_3, <i8>-LEVEL_2, <i8>-LEVEL_1, <i8>-LEVEL_0,
  <i8>LEVEL_0, <i8>LEVEL_1, <i8>LEVEL_2, <i8>LEVEL_3, <i8>LEVEL_4, <i8>LEVEL_5, <i8>LEVEL_6, <i8>LEVEL_7,
]);

/**
 * Looks up rows of a 4-bit table and dequantizes them: level[code] · multiplier · scale. Each row has one scale, and each block of
 * 16 numbers has one multiplier. The row's codes come first, then its multipliers. A byte holds two multipliers, the first in
 * the lower half, or the codes of numbers i and i + 8 of a block, the former in the lower half.
 *
 * @param table u8 [entries, width/2 + width/32]; width is a multiple of 32
 * @param scales f32 [entries]
 * @param ids i32 [tokens]
 * @param out f32 [tokens, width]
 */
export function lookupInt4(table: usize, scales: usize, ids: usize, tokens: i32, width: i32, out: usize): void {
  const low = i8x16.splat(15);
  const levels = v128.load(LEVELS);
  const bytes = <usize>((width >> 1) + (width >> 5));
  for (let token = 0; token < tokens; token++) {
    const id = load<i32>(ids + (token << 2));
    let codes = table + <usize>id * bytes;
    const end = codes + (width >> 1);
    const scale = load<f32>(scales + (id << 2));
    for (let multipliers = end; codes < end; codes += 16, multipliers++, out += 128) {
      const two = <i32>load<u8>(multipliers);
      const pairs = v128.load(codes);
      const first = v128.and(pairs, low);
      const second = v128.and(i16x8.shr_u(pairs, 4), low);
      block(out, i8x16.swizzle(levels, v128.shuffle<i64>(first, second, 0, 2)), <f32>(two & 15) * scale);
      block(out + 64, i8x16.swizzle(levels, v128.shuffle<i64>(first, second, 1, 3)), <f32>(two >> 4) * scale);
    }
  }
}

/** Writes 16 numbers times `factor`. */
// @ts-ignore: decorator
@inline
function block(out: usize, numbers: v128, factor: f32): void {
  const by = f32x4.splat(factor);
  const first = i16x8.extend_low_i8x16_s(numbers);
  const second = i16x8.extend_high_i8x16_s(numbers);
  v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(first)), by));
  v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(first)), by), 16);
  v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(second)), by), 32);
  v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(second)), by), 48);
}
