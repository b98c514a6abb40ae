import type { Graph } from "../graph/graph.ts";
import { edge } from "./forms/edge.ts";
import { int8Dynamic } from "./forms/int8-dynamic.ts";
import { matMulNBits } from "./forms/matmul-nbits.ts";
import { toFp16 } from "./fp16.ts";
import { isFeedForward } from "./products.ts";
import { type Form, quantizeGraph } from "./quantize-graph.ts";
import { smoothLayerNorms } from "./smooth-layer-norm.ts";
import type { Improvements } from "./weights/quantize-weight.ts";
import { type Calibration, type Weights, weights } from "./weights/weights.ts";

export interface PrecisionOptions {
  /** What the fused graph's products read; without it, rounding errors are not compensated. */
  readonly calibration?: Calibration | undefined;
  /** Bits of word tables. Default 8. */
  readonly tableBits?: 8 | 4;
  /** Bits of the weights between hidden and intermediate width, in onnxruntime's forms. Default: as all others. */
  readonly feedForwardBits?: 4;
}

/** A fused float32 graph in a lower precision. Nodes by the names in `keep` stay as they are. */
export type Quantizer = (keep?: ReadonlySet<string>) => Graph;

export type Precision = "int8" | "int8-blocks" | "int8-edge" | "fp16";

/** Inputs that share a step in MatMulNBits: 32 are as fast as 128 and more accurate, for 5 % more bytes. */
const BLOCK = 32;

/** What pays, by measurement: docs/accuracy.md. */
const compensated: Improvements = { clipping: false, compensation: true, biasCorrection: false };
const clippedAndCompensated: Improvements = { ...compensated, clipping: true };

/** Every precision that a fused graph can be served in. */
export const precisions: Readonly<Record<Precision, (fused: Graph, options?: PrecisionOptions) => Quantizer>> = {
  /** onnxruntime's fastest int8 kernels; layer normalisations are smoothed, because activations share a step. */
  int8: (fused, options = {}) => {
    const { graph, calibration } = smoothLayerNorms(fused, options.calibration);
    const of = weights(compensated, calibration);
    return (keep) => quantizeGraph(graph, withFeedForward(int8Dynamic(of, options.tableBits), of, options), keep);
  },
  /** onnxruntime's MatMulNBits: slower than int8, and closer to float32. */
  "int8-blocks": (fused, options = {}) => {
    const of = weights(compensated, options.calibration);
    const form = matMulNBits(of, { bits: 8, block: BLOCK }, options.tableBits);
    return (keep) => quantizeGraph(fused, withFeedForward(form, of, options), keep);
  },
  /** The arithmetic of our own engine for the edge. */
  "int8-edge": (fused, { calibration, tableBits } = {}) => {
    const form = edge(weights(clippedAndCompensated, calibration), tableBits);
    return (keep) => quantizeGraph(fused, form, keep);
  },
  fp16: (fused) => () => toFp16(fused),
};

function withFeedForward(form: Form, of: Weights, { feedForwardBits }: PrecisionOptions): Form {
  if (!feedForwardBits) return form;
  const narrow = matMulNBits(of, { bits: feedForwardBits, block: BLOCK });
  return {
    ...form,
    product: (graph, product) => (isFeedForward(product) ? narrow : form).product(graph, product),
  };
}
