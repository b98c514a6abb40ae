/** Gives memory back at once that the collector would let be for long. Nothing may use the array, or a view of it, any more. */
export function release({ buffer }: { readonly buffer: ArrayBuffer }): void {
  buffer.transfer(0);
}
