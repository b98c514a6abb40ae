import { BertEdgeError } from "../../../artifact/error.ts";
import { decodeFloats } from "../../contract/base64.ts";
import type { ExpectedAnswer, RegionVectors } from "./dialect.ts";

/** Rounding errors of a vector of thousands of float32 numbers change its length by less than this. */
const NORM_TOLERANCE = 1e-3;

/** Characters of a vector as base64. */
export const base64Length = (dimensions: number): number => 4 * Math.ceil((4 * dimensions) / 3);

/** Characters of a number in JSON. float64 numbers have up to 24: `-1.2345678901234567e-100`. */
const NUMBER_BYTES = 32;
/** Bytes of an answer beyond its numbers: for the whole answer, and for each vector. */
const ENVELOPE_BYTES = 4_096;
const ITEM_BYTES = 256;

/** Returns the largest size of an answer whose vectors are numbers in JSON. */
export const maxBytesOfNumbers = (texts: number, dimensions: number): number =>
  ENVELOPE_BYTES + texts * (dimensions * NUMBER_BYTES + ITEM_BYTES);

/** @returns the error for an answer that the edge would not give */
export const fault = (what: string, hint: string): BertEdgeError =>
  new BertEdgeError("region_failed", `The region ${what}.`, { hint });

/** Decodes little-endian float32 in base64; undefined if the text is not that. */
export function vectorOfBase64(text: string): Float32Array<ArrayBuffer> | undefined {
  try {
    return decodeFloats(text);
  } catch {
    return undefined;
  }
}

/** Reads a list of numbers; undefined if it is not that. */
export function vectorOfNumbers(list: unknown): Float32Array<ArrayBuffer> | undefined {
  if (!Array.isArray(list) || !list.every((value) => typeof value === "number")) return undefined;
  return Float32Array.from(list);
}

interface VectorCheck {
  /** Index of the text. */
  readonly index: number;
  readonly dimensions: number;
  /** Whether the vector must have the length 1. Otherwise, it must only not be 0. */
  readonly hasLength1: boolean;
  readonly hint: string;
}

/** @throws BertEdgeError `region_failed` */
export function checkedVector(
  vector: Float32Array<ArrayBuffer> | undefined,
  { index, dimensions, hasLength1, hint }: VectorCheck,
): Float32Array<ArrayBuffer> {
  if (vector?.length !== dimensions)
    throw fault(`returned no vector of ${dimensions} dimensions for text ${index}`, hint);
  const norm = Math.hypot(...vector);
  if (!Number.isFinite(norm)) throw fault(`returned a vector with NaN or infinite values for text ${index}`, hint);
  if (hasLength1 ? Math.abs(norm - 1) > NORM_TOLERANCE : norm === 0) {
    throw fault(`returned a vector of the length ${norm} for text ${index}`, hint);
  }
  return vector;
}

/**
 * Checks the vectors of a foreign region, and gives them the length 1 if the model's vectors have it.
 *
 * @param vectors undefined where the answer has something else
 * @param texts number of texts in the question
 * @throws BertEdgeError `region_failed`
 */
export function foreignVectors(
  vectors: readonly (Float32Array<ArrayBuffer> | undefined)[],
  texts: number,
  { dimensions, normalize, tokens = 0, version }: ExpectedAnswer,
): RegionVectors {
  if (vectors.length !== texts) throw fault(`returned ${vectors.length} vectors for ${texts} texts`, SERVE_THE_SAME);
  const checked = vectors.map((vector, index) => {
    const good = checkedVector(vector, { index, dimensions, hasLength1: false, hint: SERVE_THE_SAME });
    if (!normalize) return good;
    const norm = Math.hypot(...good);
    return good.map((value) => value / norm);
  });
  // The edge has tokenized the texts, and the golden texts have shown that the region runs the same model.
  return { vectors: checked, tokens, version };
}

/** Hint for answers of foreign regions. */
export const SERVE_THE_SAME = "Check that the region serves the same model, and that its dialect is the right one.";
