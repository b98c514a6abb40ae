import { decodeFloats } from "../serve/contract/vector-text.ts";

/**
 * Decodes the vectors of an answer, each in base64.
 *
 * @param fits whether a vector of this length can be in the answer
 * @throws an error if a vector is empty, has a number that is not finite, or does not fit
 */
export function readVectors(encoded: unknown, fits: (length: number) => boolean): Float32Array<ArrayBuffer>[] {
  return (encoded as string[]).map((text, i) => {
    const vector = decodeFloats(text);
    const { length } = vector;
    if (length === 0 || !fits(length)) throw new TypeError(`vector ${i} has a wrong length: ${length}`);
    if (!vector.every(Number.isFinite)) throw new TypeError(`vector ${i} has NaN or infinite values`);
    return vector;
  });
}
