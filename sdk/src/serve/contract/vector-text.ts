import type { EncodingFormat } from "./fields.ts";

/** Number of decimal digits that distinguishes all float32 numbers: https://en.wikipedia.org/wiki/Single-precision_floating-point_format */
const FLOAT32_DIGITS = 9;

/** Numbers of a vector: float32, or 8 bits each. */
type VectorNumbers = Float32Array<ArrayBuffer> | Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

/** Rounds the float32 numbers of a vector to 9 digits, for answers that `JSON.stringify` writes as a whole. */
export const vectorNumbers = (vector: Float32Array<ArrayBuffer>): number[] =>
  Array.from(vector, (value) => Number(value.toPrecision(FLOAT32_DIGITS)));

/** Formats a vector as JSON: a base64 string of its bytes, or a list of numbers. Float32 numbers have 9 digits. */
export function formatVector(vector: VectorNumbers, format: EncodingFormat): string {
  if (format === "base64") return `"${encodeBytes(vector)}"`;
  if (!(vector instanceof Float32Array)) return `[${vector}]`;
  // Four times as fast as JSON.stringify of rounded numbers.
  let numbers = "";
  for (const value of vector) numbers += `${numbers && ","}${value.toPrecision(FLOAT32_DIGITS)}`;
  return `[${numbers}]`;
}

// `toBase64` and `fromBase64` are several times faster than `btoa` and `atob`, but Node 24 and older browsers lack
// them. Loops over the bytes are 2 to 15 times faster than `Array.from` and `Uint8Array.from` with a function.

/** Encodes the little-endian bytes of a vector or of token ids as base64, like OpenAI's API. */
export function encodeBytes({ buffer, byteOffset, byteLength }: ArrayBufferView<ArrayBuffer>): string {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  if (bytes.toBase64) return bytes.toBase64();
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

// Both functions are the inverse of `encodeBytes`, and throw when `text` is not base64 of a multiple of 4 bytes.
export const decodeFloats = (text: string): Float32Array<ArrayBuffer> => new Float32Array(decodeBytes(text));
export const decodeIds = (text: string): Int32Array<ArrayBuffer> => new Int32Array(decodeBytes(text));

function decodeBytes(text: string): ArrayBuffer {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text).buffer;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}
