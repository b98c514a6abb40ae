import type { Manifest } from "../../artifact/manifest.ts";
import { totalLength } from "../../artifact/total-length.ts";
import type { TokenSequence } from "../../runtime/engine/engine.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import { outputLength } from "../../runtime/tasks/task-output.ts";

/** The answer that the edge itself would give, as far as the edge knows it. */
export interface ExpectedAnswer {
  readonly model: string;
  /** The version that the edge serves. */
  readonly version: string;
  /** Length of each output, in order. */
  readonly lengths: readonly number[];
  /**
   * Euclidean norm of the outputs: vectors that are normalized have 1, other vectors are not zero, and logits can have any
   * norm.
   */
  readonly norm: "one" | "not-zero" | "any";
  /** Tokens of all sequences together; undefined if the edge has not encoded them. */
  readonly tokens?: number | undefined;
  /** Maximum tokens of a sequence. */
  readonly maxTokens: number;
  /** Predicted milliseconds of the region's computation, from the model's measurements. */
  readonly computeMs: number;
  /**
   * Whether only regions of our own compute the same: an input can be longer than `maxTokens`, so that it must be cut, or some
   * of its tokens are not pooled. Default false.
   */
  readonly onlyOurs?: boolean | undefined;
}

interface ExpectedCall {
  readonly sequences?: readonly TokenSequence[] | undefined;
  /** Number of inputs, each of which has an output of the same length as long as the sequences are unknown. */
  readonly inputs: number;
  readonly inRegionMs: number;
  readonly onlyOurs: boolean;
}

/** Describes the answer to a question. */
export function expectedAnswer(
  { manifest, version }: { readonly manifest: Manifest; readonly version: string },
  { sequences, inputs, inRegionMs, onlyOurs }: ExpectedCall,
): ExpectedAnswer {
  const ids = sequences?.map(idsOf);
  return {
    model: manifest.name,
    version,
    lengths: ids?.map((each) => outputLength(manifest, each)) ?? Array(inputs).fill(outputLength(manifest, undefined)),
    norm: manifest.task !== "embed" ? "any" : manifest.normalize ? "one" : "not-zero",
    tokens: ids && totalLength(ids),
    maxTokens: manifest.maxTokens,
    computeMs: inRegionMs,
    onlyOurs,
  };
}
