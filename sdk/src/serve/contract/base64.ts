// `toBase64` and `fromBase64` are several times faster than `btoa` and `atob`, but Node 24 and older browsers lack
// them. Loops over the bytes are 2 to 15 times faster than `Array.from` and `Uint8Array.from` with a function.

/** Encodes a vector's little-endian float32 bytes as base64, as OpenAI's API does. */
export function encodeFloats(vector: Float32Array<ArrayBuffer>): string {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  if (bytes.toBase64) return bytes.toBase64();
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * Decodes base64 to a vector: the inverse of `encodeFloats`.
 *
 * @throws an error when `text` is not base64, or when the number of its bytes is not a multiple of 4
 */
export function decodeFloats(text: string): Float32Array<ArrayBuffer> {
  if (Uint8Array.fromBase64) return new Float32Array(Uint8Array.fromBase64(text).buffer);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}
