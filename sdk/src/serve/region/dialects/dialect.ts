import type { BertEdgeError } from "../../../artifact/error.ts";
import type { EmbedManifest } from "../../../artifact/manifest.ts";

/** The answer that the edge itself would give, as far as the edge knows it. */
export interface ExpectedAnswer {
  readonly model: string;
  /** The version that the edge serves. */
  readonly version: string;
  /** Size of the model's vectors. */
  readonly dimensions: number;
  /** Whether the model's vectors have the length 1. */
  readonly normalize: boolean;
  /** Tokens of all texts together; undefined if the edge has not tokenized them. */
  readonly tokens?: number | undefined;
  /** Maximum tokens of a text. */
  readonly maxTokens: number;
  /** Predicted milliseconds of the region's computation, from the model's measurements. */
  readonly computeMs: number;
  /**
   * Whether a text can be longer than `maxTokens`, so that it must be cut. Only regions of our own cut where the edge does.
   * Default false.
   */
  readonly mayCut?: boolean | undefined;
}

/** A question to a region. */
export interface RegionQuestion extends Pick<EmbedManifest, "normalize"> {
  readonly texts: readonly string[];
  readonly truncate: boolean;
  /** Our name of the model. */
  readonly model: string;
}

/** Vectors [dimensions] of texts, with their tokens and the model's version. */
export interface RegionVectors {
  readonly vectors: Float32Array<ArrayBuffer>[];
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
  /** Path of the route that embeds, and that of the route which says that the region works. */
  readonly embedPath: string;
  readonly probePath: string;
  /** Returns the JSON body of a question. */
  body(question: RegionQuestion): object;
  /** Returns the largest size of an answer for `texts` texts, in bytes. */
  maxAnswerBytes(texts: number, dimensions: number): number;
  /**
   * Reads the body of an answer, and checks everything in it that the edge can check.
   *
   * @param texts number of texts in the question
   * @throws BertEdgeError `region_failed` when the answer is not the one that the edge would give
   */
  readAnswer(body: string, texts: number, expected: ExpectedAnswer): RegionVectors;
  /**
   * Reads the times that a response reports.
   *
   * @returns undefined if it reports none
   */
  readReport(headers: Headers, tookMs: number): RegionReport | undefined;
  /**
   * Reads why a request was refused, from the JSON body of a response with the status 400, 413 or 422.
   *
   * @param texts number of texts in the question
   * @returns undefined if the region itself failed
   */
  faultOf(json: unknown, texts: number): BertEdgeError | undefined;
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
