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
  /** Activation statistics of the graph's linear layers. Without them, weights are rounded to nearest. */
  readonly statistics?: CalibrationStatistics | undefined;
  /** Bits of token embedding tables. Default: 8. */
  readonly tableBits?: 8 | 4;
  /** Bits of feed-forward weights. Only `int8` and `int8-blocks` use it. Default: 8. */
  readonly feedForwardBits?: 8 | 4;
}

/**
 * Makes a copy of a fused float32 graph in a lower precision.
 *
 * @param keep names of nodes to keep in the next higher precision
 */
export type Quantizer = (keep?: ReadonlySet<string>) => Graph;

export type Precision = "int8" | "int8-blocks" | "int8-edge" | "fp16";

/** Block size of MatMulNBits (inputs per scale). 32 is as fast as 128 and more accurate, with 5 % more bytes. */
const BLOCK = 32;

/** Rounding options that improve accuracy. docs/accuracy.md has the measurements. */
const gptq: RoundingOptions = { ...ROUND_TO_NEAREST, gptq: true };
const gptqAndClipping: RoundingOptions = { ...gptq, clipping: true };

/** All precisions that a fused graph can be served in. */
export const precisions: Readonly<Record<Precision, (fused: Graph, options?: PrecisionOptions) => Quantizer>> = {
  /** Uses onnxruntime's fastest int8 kernels. They have one scale per activation tensor, so activations are smoothed. */
  int8: (fused, options = {}) => {
    const { graph, statistics } = smoothActivations(fused, "gains", options.statistics);
    const quantizeWeight = weightQuantizer(gptq, statistics);
    const int4 = matMulNBits(quantizeWeight, { bits: 4, block: BLOCK });
    return mixedPrecision(graph, int4Nodes(graph, options), int4, int8Dynamic(quantizeWeight));
  },
  /** Uses onnxruntime's MatMulNBits: slower than `int8`, but closer to float32. */
  "int8-blocks": (fused, options = {}) => {
    const quantizeWeight = weightQuantizer(gptq, options.statistics);
    const scheme = (bits: 8 | 4) => matMulNBits(quantizeWeight, { bits, block: BLOCK });
    return mixedPrecision(fused, int4Nodes(fused, options), scheme(4), scheme(8));
  },
  /** Uses the operators of the edge engine. */
  "int8-edge": (fused, { statistics, tableBits = 8 } = {}) => {
    // Each token has its own activation scale, so only differences between channels reduce accuracy. Smoothing needs
    // activation statistics to find these differences.
    const smooth = statistics ? smoothActivations(fused, "texts", statistics) : { graph: fused, statistics };
    const quantizeWeight = weightQuantizer(gptqAndClipping, smooth.statistics);
    const int4 = int4Nodes(smooth.graph, { tableBits });
    return mixedPrecision(smooth.graph, int4, int8Edge(quantizeWeight, 4), int8Edge(quantizeWeight));
  },
  /** Half precision for GPUs. Nodes in `keep` stay in float32. */
  fp16: (fused) => (keep) => toFp16(fused, keep),
};

/**
 * Quantizes the nodes in `int4` to 4 bits and all other nodes to 8 bits. For nodes in `keep`, 4 bits become 8 bits, and
 * 8 bits become float32.
 */
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
