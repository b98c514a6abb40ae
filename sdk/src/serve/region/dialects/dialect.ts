import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { parseJson } from "../../../artifact/parse-json.ts";
import type { TokenSequence } from "../../../runtime/engine/engine.ts";
import type { TextInput } from "../../../runtime/text-input.ts";
import type { Truncation } from "../../../runtime/truncation.ts";
import { decodeFloats } from "../../contract/vector-text.ts";
import type { ExpectedAnswer } from "../expected-answer.ts";

/** A question to a region. */
export interface RegionQuestion {
  readonly inputs: readonly TextInput[];
  /** The encoded inputs; undefined if the edge has not encoded them. Then each input is one sequence. */
  readonly sequences?: readonly TokenSequence[] | undefined;
  readonly truncate: Truncation;
}

/** The model's outputs, with their tokens and the model's version. */
export interface RegionOutputs {
  readonly outputs: Float32Array<ArrayBuffer>[];
  readonly tokens: number;
  readonly version: string;
}

/** The language of a region: the form of its requests and responses. */
export interface RegionDialect {
  /** Name of the foreign program, which knows no versions, precisions and budgets; undefined for a region that runs bert-edge. */
  readonly foreign: string | undefined;
  /** Paths of the route that computes, and of the route that tells whether the region works. */
  readonly path: string;
  readonly probePath: string;
  /** Returns the JSON body of a question. */
  body(question: RegionQuestion, expected: Pick<ExpectedAnswer, "model" | "norm">): object;
  /** Returns the largest size of an answer in bytes, from the length of each output. */
  maxAnswerBytes(lengths: readonly number[]): number;
  /**
   * Reads the body of an answer, and checks everything in it that the edge can check.
   *
   * @throws BertEdgeError `region_failed` when the answer is not the one that the edge would give
   */
  readAnswer(body: string, expected: ExpectedAnswer): RegionOutputs;
  /** Reads the times that a response reports; undefined if it reports none. */
  readReport(headers: Headers): RegionReport | undefined;
  /** Reads why a question was refused with the status 400, 413 or 422; undefined if the region itself failed. */
  faultOf(json: unknown, inputs: number): BertEdgeError | undefined;
}

/** Times that the region reports, in milliseconds. They can be wrong: see `reportWithin`. */
export interface RegionReport {
  /** Time in the region, from the request's arrival to the answer. */
  readonly totalMs: number;
  readonly queuedMs: number;
  readonly computedMs: number;
  /** Wait of a new request in the region's queue. Default: the wait of this request */
  readonly waitMs?: number | undefined;
}

/** Limits the times of a report to the milliseconds of the whole fetch. */
export function reportWithin(tookMs: number, report: RegionReport): Required<RegionReport> {
  const [queuedMs, computedMs] = [Math.min(tookMs, report.queuedMs), Math.min(tookMs, report.computedMs)];
  const totalMs = Math.min(tookMs, Math.max(report.totalMs, computedMs));
  return { totalMs, queuedMs, computedMs, waitMs: report.waitMs ?? queuedMs };
}

/** An output of the model; undefined if the answer has something else in its place. */
type Given = Float32Array<ArrayBuffer> | undefined;

export const fault = (what: string, hint: string): BertEdgeError =>
  new BertEdgeError("region_failed", `The region ${what}.`, { hint });

/** Decodes little-endian float32 in base64. */
export function vectorOfBase64(text: string): Given {
  try {
    return decodeFloats(text);
  } catch {
    return undefined;
  }
}

/** Maximum error of the length of a normalized vector. Rounding errors of thousands of float32 numbers cause less. */
const NORM_TOLERANCE = 1e-3;

/** Checks number, dimensions and norms of the outputs. @throws BertEdgeError `region_failed` */
export function checkedOutputs(
  given: readonly Given[],
  { lengths, norm: expected }: Pick<ExpectedAnswer, "lengths" | "norm">,
  hint: string,
): Float32Array<ArrayBuffer>[] {
  const texts = lengths.length;
  if (given.length !== texts) throw fault(`returned ${given.length} vectors for ${texts} texts`, hint);
  return given.map((output, index) => {
    const length = lengths[index] as number;
    if (output?.length !== length) throw fault(`returned no vector of ${length} dimensions for text ${index}`, hint);
    let squares = 0;
    for (const value of output) squares += value * value;
    const norm = Math.sqrt(squares);
    if (!Number.isFinite(norm)) throw fault(`returned a vector with NaN or infinite values for text ${index}`, hint);
    const isExpected = expected === "any" || (expected === "one" ? Math.abs(norm - 1) <= NORM_TOLERANCE : norm !== 0);
    if (!isExpected) throw fault(`returned a vector with the wrong norm ${norm} for text ${index}`, hint);
    return output;
  });
}

/** Maximum bytes of a number in JSON, with its comma and spaces. float64 numbers have up to 24: `-1.2345678901234567e-100`. */
const NUMBER_BYTES = 32;
/** Bytes of an answer beyond its numbers: for the whole answer, and for each vector. */
const ENVELOPE_BYTES = 4_096;
const ITEM_BYTES = 256;

/** Hint for answers of foreign regions. */
export const SERVE_THE_SAME = "Check that the region serves the same model, and that its dialect is the right one.";

/** Longest text of a foreign region that the log shows, in characters. */
const MAX_LOGGED = 200;

interface ForeignDialect extends Pick<RegionDialect, "path" | "probePath" | "body"> {
  readonly foreign: string;
  readonly readReport?: RegionDialect["readReport"];
  /** Reads the vectors of an answer, in the order of the texts. */
  readonly answer: v.GenericSchema<unknown, readonly Given[]>;
  /** Reads the message with which the server refuses an invalid request. */
  readonly refusal: v.GenericSchema<unknown, string>;
}

/** Makes the dialect of a foreign server, which answers with vectors in JSON. Without `readReport`, it reports no times. */
export const foreignDialect = ({ answer, refusal, ...dialect }: ForeignDialect): RegionDialect => ({
  readReport: () => undefined,
  ...dialect,
  maxAnswerBytes: (lengths) =>
    lengths.reduce((sum, length) => sum + length * NUMBER_BYTES + ITEM_BYTES, ENVELOPE_BYTES),
  readAnswer(body, { lengths, norm, tokens = 0, version }) {
    const given = parseJson(answer, body, { code: "region_failed", what: "region's answer", hint: SERVE_THE_SAME });
    const outputs = checkedOutputs(given, { lengths, norm: "not-zero" }, SERVE_THE_SAME).map((output) => {
      if (norm !== "one") return output;
      const own = Math.hypot(...output);
      return output.map((value) => value / own);
    });
    // Tokens and version are the edge's: it has tokenized the texts, and golden texts have shown that the region runs this version.
    return { outputs, tokens, version };
  },
  faultOf(json) {
    const parsed = v.safeParse(refusal, json);
    if (!parsed.success) return undefined;
    const message = `The region refused a request: ${JSON.stringify(parsed.output.slice(0, MAX_LOGGED))}.`;
    return new BertEdgeError("region_failed", message, {
      hint: "If the region takes fewer texts per request, set `maxInputs`. The edge answers texts too long for it.",
    });
  },
});

/** Reads a list of numbers as a vector. Anything else gives undefined. */
export const Vector = v.pipe(
  v.unknown(),
  v.transform((list): Given => {
    const isVector = Array.isArray(list) && list.every((value) => typeof value === "number");
    return isVector ? Float32Array.from(list) : undefined;
  }),
);
