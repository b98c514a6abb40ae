// `toBase64` and `fromBase64` are several times faster than `btoa` and `atob`, but Node 24 and older browsers lack
// them.

/** Encodes a vector's little-endian float32 bytes as base64, as OpenAI's API does. */
export function encodeFloats(vector: Float32Array<ArrayBuffer>): string {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  return bytes.toBase64?.() ?? btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/**
 * Decodes base64 to a vector: the inverse of `encodeFloats`.
 *
 * @throws an error when `text` is not base64, or when the number of its bytes is not a multiple of 4
 */
export function decodeFloats(text: string): Float32Array<ArrayBuffer> {
  const bytes = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}
