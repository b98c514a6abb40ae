import { encodeBytes } from "./base64.ts";
import type { EncodingFormat } from "./fields.ts";

/** Digits that tell all float32 numbers apart: https://en.wikipedia.org/wiki/Single-precision_floating-point_format */
const FLOAT32_DIGITS = 9;

/** Numbers of a vector: float32, or 8 bits each. */
type VectorNumbers = Float32Array<ArrayBuffer> | Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

/** Returns a vector's float32 numbers as the shortest numbers with 9 digits, for answers that are written at once. */
export const vectorNumbers = (vector: Float32Array<ArrayBuffer>): number[] =>
  Array.from(vector, (value) => Number(value.toPrecision(FLOAT32_DIGITS)));

/** Formats a vector as JSON: a base64 string of its bytes, or a list of numbers, of which float32 numbers have 9 digits. */
export function formatVector(vector: VectorNumbers, format: EncodingFormat): string {
  if (format === "base64") return `"${encodeBytes(vector)}"`;
  if (!(vector instanceof Float32Array)) return `[${vector}]`;
  // Four times as fast as JSON.stringify of rounded numbers.
  let numbers = "";
  for (const value of vector) numbers += `${numbers && ","}${value.toPrecision(FLOAT32_DIGITS)}`;
  return `[${numbers}]`;
}
