import type { BertEdgeError } from "../../../artifact/error.ts";
import type { TokenSequence } from "../../../runtime/engine/engine.ts";
import type { TextInput } from "../../../runtime/text-input.ts";
import type { Truncation } from "../../../runtime/truncation.ts";
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
export interface Dialect {
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
