/**
 * The bytes of this module, which uses one relaxed SIMD instruction:
 *
 *     (module (func (local v128) (drop (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get 0) (local.get 0) (local.get 0)))))
 */
const PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0],
  ...[1, 4, 1, 96, 0, 0],
  ...[3, 2, 1, 0],
  ...[10, 16, 1, 14, 1, 1, 123, 32, 0, 32, 0, 32, 0, 253, 147, 2, 26, 11],
);

/**
 * Whether this runtime has relaxed SIMD. Testing one instruction is enough, because a runtime has either all of these
 * instructions or none.
 */
export const hasRelaxedSimd = (): boolean => WebAssembly.validate(PROBE);
