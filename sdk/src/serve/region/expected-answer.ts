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
  /** Euclidean norm of the outputs: 1 for normalized vectors, not zero for others, and any for logits. */
  readonly norm: "one" | "not-zero" | "any";
  /** Tokens of all sequences together; undefined if the edge has not encoded them. */
  readonly tokens?: number | undefined;
  /** Maximum tokens of a sequence. */
  readonly maxTokens: number;
  /** Predicted milliseconds of the region's computation, from the model's measurements. */
  readonly computeMs: number;
  /** Whether only a region that runs bert-edge gives the edge's result: a text can be too long, or some tokens are not pooled. */
  readonly onlyOurs?: boolean | undefined;
}

/** Describes the answer to a question. While its sequences are unknown, the outputs of all inputs get the same length. */
export function expectedAnswer(
  { manifest, version }: { manifest: Manifest; version: string },
  call: { sequences?: readonly TokenSequence[] | undefined; inputs: number; inRegionMs: number; onlyOurs: boolean },
): ExpectedAnswer {
  const { sequences, inputs, inRegionMs, onlyOurs } = call;
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
