import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { TokenSequence } from "../../../runtime/engine/engine.ts";
import type { TextInput } from "../../../runtime/text-input.ts";
import type { Truncation } from "../../../runtime/truncation.ts";
import { decodeFloats } from "../../contract/base64.ts";
import { errorStatus, type HttpErrorCode } from "../../contract/errors.ts";
import type { ExpectedAnswer } from "../expected-answer.ts";

/** A question to a region. */
export interface RegionQuestion {
  readonly inputs: readonly TextInput[];
  /** The encoded inputs; undefined if the edge has not encoded them. Then each input is one sequence. */
  readonly sequences?: readonly TokenSequence[] | undefined;
  readonly truncate: Truncation;
  /** Our name of the model. */
  readonly model: string;
  /** Whether the outputs are vectors that must have the length 1. */
  readonly normalize: boolean;
}

/** The model's outputs, with their tokens and the model's version. */
export interface RegionOutputs {
  readonly outputs: Float32Array<ArrayBuffer>[];
  readonly tokens: number;
  readonly version: string;
}

/** The language of a region: how it is asked, and how its responses are read. */
export interface RegionDialect {
  /** The provider that answers name; undefined if the region names it. */
  readonly provider: string | undefined;
  /**
   * Whether another program answers. It knows no versions, precisions and budgets, and it must prove by golden texts that it
   * runs the model.
   */
  readonly isForeign: boolean;
  /** Path of the route that computes, and that of the route which says that the region works. */
  readonly path: string;
  readonly probePath: string;
  /** Returns the JSON body of a question. */
  body(question: RegionQuestion): object;
  /**
   * Returns the largest size of an answer, in bytes.
   *
   * @param lengths length of each output
   */
  maxAnswerBytes(lengths: readonly number[]): number;
  /**
   * Reads the body of an answer, and checks everything in it that the edge can check.
   *
   * @throws BertEdgeError `region_failed` when the answer is not the one that the edge would give
   */
  readAnswer(body: string, expected: ExpectedAnswer): RegionOutputs;
  /**
   * Reads the times that a response reports.
   *
   * @returns undefined if it reports none
   */
  readReport(headers: Headers, tookMs: number): RegionReport | undefined;
  /**
   * Reads why a request was refused, from the JSON body of a response with the status 400, 413 or 422.
   *
   * @param inputs number of inputs in the question
   * @returns undefined if the region itself failed
   */
  faultOf(json: unknown, inputs: number): BertEdgeError | undefined;
}

/** Times that the region reports, in milliseconds. */
export interface RegionReport {
  /** Time in the region, from the request's arrival to the answer. */
  readonly totalMs: number;
  readonly queuedMs: number;
  readonly computedMs: number;
  /** Wait of a new request in the region's queue. If the region does not predict it, the wait of this request. */
  readonly waitMs: number;
}

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

/** Longest text of the region that callers see, in characters. */
const MAX_TEXT = 500;
/** Longest text of a foreign region that the log shows, in characters. */
const MAX_LOGGED = 200;

const codes = (Object.keys(errorStatus) as HttpErrorCode[]).filter((code) => errorStatus[code] === 400);

const text = v.pipe(
  v.string(),
  v.transform((text) => text.slice(0, MAX_TEXT)),
);
const Fault = v.object({
  error: v.object({
    code: v.picklist(codes),
    message: text,
    hint: v.optional(text),
    index: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  }),
});

/**
 * Reads an error that our own region gives its caller.
 *
 * @param texts number of texts in the request
 */
export function faultOfCaller(json: unknown, texts: number): BertEdgeError | undefined {
  const parsed = v.safeParse(Fault, json);
  if (!parsed.success) return undefined;
  const { code, message, hint, index } = parsed.output.error;
  return (index ?? 0) < texts ? new BertEdgeError(code, message, { hint, index }) : undefined;
}

/** Returns the error for a request that a foreign region does not take, and that the edge answers itself. */
export const requestRefused = (message: string): BertEdgeError =>
  new BertEdgeError("region_failed", `The region refused a request: ${JSON.stringify(message.slice(0, MAX_LOGGED))}.`, {
    hint: "If the region takes fewer texts in a request, set `maxInputs`. If its texts are shorter, the edge answers.",
  });
