import type { Graph } from "../graph/graph.ts";
import { toFp16 } from "./fp16/to-fp16.ts";
import { feedForwardProducts } from "./products.ts";
import { type Form, quantizeGraph, tableNodes } from "./quantize-graph.ts";
import { edge } from "./schemes/edge.ts";
import { int8Dynamic } from "./schemes/int8-dynamic.ts";
import { matMulNBits } from "./schemes/matmul-nbits.ts";
import { smoothActivations } from "./smooth-activations.ts";
import { type Improvements, TO_THE_NEAREST } from "./weights/quantize-weight.ts";
import { type Calibration, weights } from "./weights/weights.ts";

export interface PrecisionOptions {
  /** What the fused graph's products read; without it, rounding errors are not compensated. */
  readonly calibration?: Calibration | undefined;
  /** Bits of word tables. Default 8. */
  readonly tableBits?: 8 | 4;
  /** Bits of the weights between hidden and intermediate width, in onnxruntime's forms. Default 8. */
  readonly feedForwardBits?: 8 | 4;
}

/** A fused float32 graph in a lower precision; the nodes named in `keep` in the next higher one. */
export type Quantizer = (keep?: ReadonlySet<string>) => Graph;

export type Precision = "int8" | "int8-blocks" | "int8-edge" | "fp16";

/** Inputs that share a step in MatMulNBits: 32 are as fast as 128 and more accurate, for 5 % more bytes. */
const BLOCK = 32;

/** What pays, by measurement: docs/accuracy.md. */
const compensated: Improvements = { ...TO_THE_NEAREST, compensation: true };
const clippedAndCompensated: Improvements = { ...compensated, clipping: true };

/** Every precision that a fused graph can be served in. */
export const precisions: Readonly<Record<Precision, (fused: Graph, options?: PrecisionOptions) => Quantizer>> = {
  /** onnxruntime's fastest int8 kernels; activations are smoothed, because they share a step. */
  int8: (fused, options = {}) => {
    const { graph, calibration } = smoothActivations(fused, "gains", options.calibration);
    const of = weights(compensated, calibration);
    const narrow = matMulNBits(of, { bits: 4, block: BLOCK });
    return inSteps(graph, narrowNodes(graph, options), narrow, int8Dynamic(of));
  },
  /** onnxruntime's MatMulNBits: slower than int8, and closer to float32. */
  "int8-blocks": (fused, options = {}) => {
    const of = weights(compensated, options.calibration);
    const form = (bits: 8 | 4) => matMulNBits(of, { bits, block: BLOCK });
    return inSteps(fused, narrowNodes(fused, options), form(4), form(8));
  },
  /** The arithmetic of our own engine for the edge. */
  "int8-edge": (fused, { calibration, tableBits = 8 } = {}) => {
    // A step for every token leaves to even out what differs between channels for all tokens, which only texts tell.
    const smooth = calibration ? smoothActivations(fused, "texts", calibration) : { graph: fused, calibration };
    const of = weights(clippedAndCompensated, smooth.calibration);
    return inSteps(smooth.graph, narrowNodes(smooth.graph, { tableBits }), edge(of, 4), edge(of));
  },
  /** For GPUs; what is kept stays in float32. */
  fp16: (fused) => (keep) => toFp16(fused, keep),
};

/** Some nodes in 4 bits, all others in 8. What is kept goes up a step: from 4 bits to 8, from 8 to float32. */
function inSteps(graph: Graph, narrow: ReadonlySet<string>, narrowForm: Form, wideForm: Form): Quantizer {
  return (keep = new Set()) => {
    const narrowed = quantizeGraph(graph, narrowForm, (name) => narrow.has(name) && !keep.has(name));
    return quantizeGraph(narrowed, wideForm, (name) => narrow.has(name) || !keep.has(name));
  };
}

function narrowNodes(graph: Graph, { tableBits, feedForwardBits }: PrecisionOptions): Set<string> {
  return new Set([
    ...(tableBits === 4 ? tableNodes(graph) : []),
    ...(feedForwardBits === 4 ? feedForwardProducts(graph).map(({ name }) => name) : []),
  ]);
}
