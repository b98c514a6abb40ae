import { unit } from "./sentence-vector.ts";

/** Largest absolute value of an int8 vector. -128 stays unused, so that the range is symmetric. */
const INT8_MAX = 127;
/** Zero point of unsigned formats: the unsigned value of 0. */
const ZERO_POINT = 128;

/**
 * Keeps the first dimensions of a vector and normalizes what is left, for models trained with Matryoshka representation
 * learning: https://arxiv.org/abs/2205.13147
 *
 * @param vector [n]
 * @param dimensions 1 to n
 * @returns [dimensions], with Euclidean length 1
 */
export const shortened = (vector: Float32Array, dimensions: number): Float32Array<ArrayBuffer> =>
  unit(Float32Array.from(vector.subarray(0, dimensions)));

/**
 * Rounds a vector to 8 bits: round(127 · v / max |v|). Each vector has its own scale, so cosines stay nearly the same, and dot
 * products do not.
 *
 * @param vector [dimensions]
 * @returns [dimensions], -127 to 127
 */
export function int8Vector(vector: Float32Array): Int8Array<ArrayBuffer> {
  const largest = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const scale = largest === 0 ? 0 : INT8_MAX / largest;
  return Int8Array.from(vector, (value) => Math.round(value * scale));
}

/** Rounds as `int8Vector` does, with the zero point 128: [dimensions], 1 to 255. */
export const uint8Vector = (vector: Float32Array): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(int8Vector(vector), (value) => value + ZERO_POINT);

/**
 * Keeps only the signs of a vector, as numpy.packbits(v > 0) packs them: the first dimension is the most significant bit of
 * the first byte. Missing bits of the last byte are 0.
 *
 * @param vector [dimensions]
 * @returns [⌈dimensions / 8⌉]
 */
export function binaryVector(vector: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(vector.length / 8));
  vector.forEach((value, i) => {
    if (value > 0) bytes[i >> 3] = (bytes[i >> 3] as number) | (0x80 >> (i & 7));
  });
  return bytes;
}

/** Packs signs as `binaryVector` does and subtracts 128 from each byte, as sentence-transformers' precision `binary` does. */
export const signedBinaryVector = (vector: Float32Array): Int8Array<ArrayBuffer> =>
  Int8Array.from(binaryVector(vector), (byte) => byte - ZERO_POINT);

/** Number formats of vectors, by the names that Cohere (https://docs.cohere.com/reference/embed) and sentence-transformers use. */
export const vectorFormats = {
  float: (vector) => vector,
  int8: int8Vector,
  uint8: uint8Vector,
  binary: signedBinaryVector,
  ubinary: binaryVector,
} satisfies Record<
  string,
  (vector: Float32Array<ArrayBuffer>) => Float32Array<ArrayBuffer> | Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer>
>;
