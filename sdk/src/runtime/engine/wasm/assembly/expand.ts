import { GROUP_PARAMETERS, TILE_OUTPUTS } from "../constants/tiles";

/**
 * Expands weights of 4 bits to the numbers that they stand for, in the order in which gemmInt8 reads them.
 *
 * The weights of 8 outputs by `group` inputs are stored together:
 *
 *   base       u7 [8]
 *   multiplier u4 [8]: the lower half of byte i belongs to output i, and the upper half to output i + 4
 *   codes      u4 [group/8, 2, 16]: 16 bytes hold two tiles' weights of four outputs, the first tile's in the lower halves
 *
 * A weight is base + multiplier · code, at most 127.
 *
 * @param packed address of `groups` such groups, one after the other
 * @param group number of inputs, a multiple of 8
 * @param out u7 [groups · group/4, 8, 4]
 */
export function expandInt4(packed: usize, groups: i32, group: i32, out: usize): void {
  const low = i8x16.splat(15);
  const zero = i32x4.splat(0);
  const codeBytes = <usize>group * (TILE_OUTPUTS / 2);
  for (let i = 0; i < groups; i++) {
    const bases = v128.load64_zero(packed);
    const multipliers = v128.load32_zero(packed, TILE_OUTPUTS);
    const b0 = i8x16.shuffle(bases, zero, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    const b1 = i8x16.shuffle(bases, zero, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7);
    const m0 = perOutput(v128.and(multipliers, low));
    const m1 = perOutput(v128.and(i16x8.shr_u(multipliers, 4), low));
    packed += GROUP_PARAMETERS;
    for (const end = packed + codeBytes; packed < end; packed += 32, out += 64) {
      const c0 = v128.load(packed);
      const c1 = v128.load(packed, 16);
      v128.store(out, weights(v128.and(c0, low), m0, b0));
      v128.store(out, weights(v128.and(c1, low), m1, b1), 16);
      v128.store(out, weights(v128.and(i16x8.shr_u(c0, 4), low), m0, b0), 32);
      v128.store(out, weights(v128.and(i16x8.shr_u(c1, 4), low), m1, b1), 48);
    }
  }
}

/** Extends the first four bytes to 16 bits, each twice: a 16-bit lane holds two inputs of an output. */
// @ts-ignore: decorator
@inline
function perOutput(bytes: v128): v128 {
  return i8x16.shuffle(bytes, i32x4.splat(0), 0, 16, 0, 16, 1, 16, 1, 16, 2, 16, 2, 16, 3, 16, 3, 16);
}

/** One 16-bit multiplication computes two products, because no product has more than 8 bits. */
// @ts-ignore: decorator
@inline
function weights(codes: v128, multipliers: v128, bases: v128): v128 {
  return i8x16.add(i16x8.mul(codes, multipliers), bases);
}
