/** Tensors of at least this size are read or computed again at each use. Smaller ones stay in memory. */
export const LARGE_BYTES = 1 << 16;

/** Frees a buffer now instead of at the next garbage collection. The array and all views of it become unusable. */
export function release({ buffer }: { readonly buffer: ArrayBuffer }): void {
  buffer.transfer(0);
}
