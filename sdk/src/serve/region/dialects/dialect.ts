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

/** The language of a region: how it is asked, and how its responses are read. */
export interface RegionDialect {
  /** The other program that answers, without versions, precisions and budgets; undefined for regions of our own. */
  readonly foreign: string | undefined;
  /** Path of the route that computes, and that of the route which says that the region works. */
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

/** An output of the model; undefined where an answer has something else. */
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

/** Rounding errors of a vector of thousands of float32 numbers change its length by less than this. */
const NORM_TOLERANCE = 1e-3;

/** @throws BertEdgeError `region_failed` when these are not the outputs that are expected */
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
    if (!isExpected) throw fault(`returned a vector of the length ${norm} for text ${index}`, hint);
    return output;
  });
}

/** Characters of a number in JSON. float64 numbers have up to 24: `-1.2345678901234567e-100`. */
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
  /** Reads why the server refuses a request for the request's own faults. */
  readonly refusal: v.GenericSchema<unknown, string>;
}

/** Makes the dialect of a server that answers vectors as numbers in JSON, and reports no times unless it says otherwise. */
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
    // The edge has tokenized the texts, and the golden texts have shown that the region runs the same model.
    return { outputs, tokens, version };
  },
  faultOf(json) {
    const parsed = v.safeParse(refusal, json);
    if (!parsed.success) return undefined;
    const message = `The region refused a request: ${JSON.stringify(parsed.output.slice(0, MAX_LOGGED))}.`;
    return new BertEdgeError("region_failed", message, {
      hint: "If the region takes fewer texts in a request, set `maxInputs`. If its texts are shorter, the edge answers.",
    });
  },
});

/** A list of numbers. */
export const Vector = v.pipe(
  v.unknown(),
  v.transform((list): Given => {
    const isVector = Array.isArray(list) && list.every((value) => typeof value === "number");
    return isVector ? Float32Array.from(list) : undefined;
  }),
);
