/** Tensors with at least this many bytes are read or computed again at each use. Smaller tensors stay in memory. */
export const LARGE_BYTES = 1 << 16;

/**
 * Frees a buffer now instead of at the next garbage collection. The given array and all other views of the buffer
 * become unusable.
 */
export function release({ buffer }: { readonly buffer: ArrayBuffer }): void {
  buffer.transfer(0);
}
