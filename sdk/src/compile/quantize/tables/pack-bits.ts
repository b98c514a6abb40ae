/** Packs unsigned integers of 8 or 4 bits into bytes. The first of two 4-bit integers is the lower half of a byte. */
export function packBits(count: number, bits: 8 | 4, valueAt: (index: number) => number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil((count * bits) / 8));
  if (bits === 8) {
    for (let i = 0; i < count; i++) bytes[i] = valueAt(i);
    return bytes;
  }
  for (let i = 0; i < count; i++) {
    const at = Math.floor((i * bits) / 8);
    bytes[at] = (bytes[at] as number) | (valueAt(i) << ((i * bits) % 8));
  }
  return bytes;
}
