import { BertEdgeError } from "../../../artifact/error.ts";
import { decodeFloats } from "../../contract/base64.ts";
import type { ExpectedAnswer } from "../expected-answer.ts";
import type { RegionOutputs } from "./dialect.ts";

/** Rounding errors of a vector of thousands of float32 numbers change its length by less than this. */
const NORM_TOLERANCE = 1e-3;

/** Characters of float32 numbers as base64. */
export const base64Length = (numbers: number): number => 4 * Math.ceil((4 * numbers) / 3);

/** Characters of a number in JSON. float64 numbers have up to 24: `-1.2345678901234567e-100`. */
const NUMBER_BYTES = 32;
/** Bytes of an answer beyond its numbers: for the whole answer, and for each vector. */
const ENVELOPE_BYTES = 4_096;
const ITEM_BYTES = 256;

/** Returns the largest size of an answer whose vectors are numbers in JSON. */
export const maxBytesOfNumbers = (lengths: readonly number[]): number =>
  lengths.reduce((sum, length) => sum + length * NUMBER_BYTES + ITEM_BYTES, ENVELOPE_BYTES);

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

interface OutputCheck extends Pick<ExpectedAnswer, "norm"> {
  /** Index of the sequence. */
  readonly index: number;
  readonly length: number;
  readonly hint: string;
}

/** @throws BertEdgeError `region_failed` */
export function checkedOutput(
  output: Float32Array<ArrayBuffer> | undefined,
  { index, length, norm: expected, hint }: OutputCheck,
): Float32Array<ArrayBuffer> {
  if (output?.length !== length) throw fault(`returned no vector of ${length} dimensions for text ${index}`, hint);
  let squares = 0;
  for (const value of output) squares += value * value;
  const norm = Math.sqrt(squares);
  if (!Number.isFinite(norm)) throw fault(`returned a vector with NaN or infinite values for text ${index}`, hint);
  const isExpected = expected === "any" || (expected === "one" ? Math.abs(norm - 1) <= NORM_TOLERANCE : norm !== 0);
  if (!isExpected) throw fault(`returned a vector of the length ${norm} for text ${index}`, hint);
  return output;
}

/**
 * Checks the vectors of a foreign region, and gives them the length 1 if the model's vectors have it.
 *
 * @param vectors undefined where the answer has something else
 * @throws BertEdgeError `region_failed`
 */
export function foreignVectors(
  vectors: readonly (Float32Array<ArrayBuffer> | undefined)[],
  { lengths, norm, tokens = 0, version }: ExpectedAnswer,
): RegionOutputs {
  const texts = lengths.length;
  if (vectors.length !== texts) throw fault(`returned ${vectors.length} vectors for ${texts} texts`, SERVE_THE_SAME);
  const outputs = vectors.map((vector, index) => {
    const length = lengths[index] as number;
    const good = checkedOutput(vector, { index, length, norm: "not-zero", hint: SERVE_THE_SAME });
    if (norm !== "one") return good;
    const own = Math.hypot(...good);
    return good.map((value) => value / own);
  });
  // The edge has tokenized the texts, and the golden texts have shown that the region runs the same model.
  return { outputs, tokens, version };
}

/** Hint for answers of foreign regions. */
export const SERVE_THE_SAME = "Check that the region serves the same model, and that its dialect is the right one.";
