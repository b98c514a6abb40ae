import type { Graph } from "../graph/graph.ts";
import type { CalibrationStatistics } from "./calibration/activation-statistics.ts";
import { toFp16 } from "./fp16/to-fp16.ts";
import { feedForwardLayers } from "./linear-layers.ts";
import { embeddingNodes, type QuantizationScheme, quantizeGraph } from "./quantize-graph.ts";
import { int8Dynamic } from "./schemes/int8-dynamic.ts";
import { int8Edge } from "./schemes/int8-edge.ts";
import { matMulNBits } from "./schemes/matmul-nbits.ts";
import { smoothActivations } from "./smooth-activations.ts";
import { ROUND_TO_NEAREST, type RoundingOptions } from "./weights/quantize-weight.ts";
import { weightQuantizer } from "./weights/weight-quantizer.ts";

export interface PrecisionOptions {
  /** Statistics of what the graph's linear layers read. Without them, weights are rounded to the nearest. */
  readonly statistics?: CalibrationStatistics | undefined;
  /** Bits of token embedding tables. Default: 8. */
  readonly tableBits?: 8 | 4;
  /** Bits of feed-forward weights, for onnxruntime's precisions. Default: 8. */
  readonly feedForwardBits?: 8 | 4;
}

/**
 * Makes a copy of a fused float32 graph in a lower precision.
 *
 * @param keep names of nodes to keep in the next higher precision
 */
export type Quantizer = (keep?: ReadonlySet<string>) => Graph;

export type Precision = "int8" | "int8-blocks" | "int8-edge" | "fp16";

/** Inputs that share a scale in MatMulNBits: 32 are as fast as 128 and more accurate, for 5 % more bytes. */
const BLOCK = 32;

/** The options that improve accuracy; measured in docs/accuracy.md. */
const gptq: RoundingOptions = { ...ROUND_TO_NEAREST, gptq: true };
const gptqAndClipping: RoundingOptions = { ...gptq, clipping: true };

/** All precisions that a fused graph can be served in. */
export const precisions: Readonly<Record<Precision, (fused: Graph, options?: PrecisionOptions) => Quantizer>> = {
  /** onnxruntime's fastest int8 kernels. Activations are smoothed, because a tensor has one scale. */
  int8: (fused, options = {}) => {
    const { graph, statistics } = smoothActivations(fused, "gains", options.statistics);
    const quantizeWeight = weightQuantizer(gptq, statistics);
    const int4 = matMulNBits(quantizeWeight, { bits: 4, block: BLOCK });
    return mixedPrecision(graph, int4Nodes(graph, options), int4, int8Dynamic(quantizeWeight));
  },
  /** onnxruntime's MatMulNBits: slower than int8, and closer to float32. */
  "int8-blocks": (fused, options = {}) => {
    const quantizeWeight = weightQuantizer(gptq, options.statistics);
    const scheme = (bits: 8 | 4) => matMulNBits(quantizeWeight, { bits, block: BLOCK });
    return mixedPrecision(fused, int4Nodes(fused, options), scheme(4), scheme(8));
  },
  /** The arithmetic of the edge engine. */
  "int8-edge": (fused, { statistics, tableBits = 8 } = {}) => {
    // Every token has a scale of its own, so differences between tokens cost nothing. Differences between channels do, and
    // finding them needs texts.
    const smooth = statistics ? smoothActivations(fused, "texts", statistics) : { graph: fused, statistics };
    const quantizeWeight = weightQuantizer(gptqAndClipping, smooth.statistics);
    const int4 = int4Nodes(smooth.graph, { tableBits });
    return mixedPrecision(smooth.graph, int4, int8Edge(quantizeWeight, 4), int8Edge(quantizeWeight));
  },
  /** For GPUs. Nodes that are kept stay in float32. */
  fp16: (fused) => (keep) => toFp16(fused, keep),
};

/** Quantizes some nodes to 4 bits and all others to 8. Kept nodes get the next higher precision: 8 bits, or float32. */
function mixedPrecision(
  graph: Graph,
  int4: ReadonlySet<string>,
  int4Scheme: QuantizationScheme,
  int8Scheme: QuantizationScheme,
): Quantizer {
  return (keep = new Set()) => {
    const withInt4 = quantizeGraph(graph, int4Scheme, (name) => int4.has(name) && !keep.has(name));
    return quantizeGraph(withInt4, int8Scheme, (name) => int4.has(name) || !keep.has(name));
  };
}

function int4Nodes(graph: Graph, { tableBits, feedForwardBits }: PrecisionOptions): Set<string> {
  return new Set([
    ...(tableBits === 4 ? embeddingNodes(graph) : []),
    ...(feedForwardBits === 4 ? feedForwardLayers(graph).map(({ name }) => name) : []),
  ]);
}
