import type { Graph } from "../graph/graph.ts";
import type { CalibrationStatistics } from "./calibration/activation-statistics.ts";
import { edgeForm } from "./edge-form.ts";
import { toFp16 } from "./fp16/to-fp16.ts";
import { feedForwardLayers, linearLayersOf, untiedWeights } from "./linear-layers.ts";
import { embeddingNodes, type QuantizationScheme, quantizeGraph } from "./quantize-graph.ts";
import { int8Dynamic } from "./schemes/int8-dynamic.ts";
import { int8Edge } from "./schemes/int8-edge.ts";
import { matMulNBits } from "./schemes/matmul-nbits.ts";
import { smoothActivations } from "./smooth-activations.ts";
import { splitSkipLayerNorms } from "./split-skip-layer-norms.ts";
import { ROUND_TO_NEAREST, type RoundingOptions } from "./weights/quantize-weight.ts";
import { type WeightQuantizer, type WorkContext, weightQuantizer } from "./weights/weight-quantizer.ts";

export interface PrecisionOptions {
  /** Activation statistics of the graph's linear layers. Without them, weights are rounded to nearest. */
  readonly statistics?: CalibrationStatistics | undefined;
  /** Bits of token embedding tables. Default: 8. */
  readonly tableBits?: 8 | 4;
  /** Bits of feed-forward weights, for the precisions of onnxruntime. Default: 8. */
  readonly feedForwardBits?: 8 | 4;
}

/**
 * Makes a copy of a fused float32 graph in a lower precision.
 *
 * @param keep names of nodes to keep in the next higher precision
 */
export type Quantizer = (keep?: ReadonlySet<string>, context?: WorkContext) => Promise<Graph>;

export type Precision = "int8" | "int8-mixed" | "int8-blocks" | "int8-edge" | "fp16";

/** Block size of MatMulNBits (inputs per scale) for `int8-blocks`, and for 4-bit weights of all onnxruntime precisions. */
const BLOCK = 32;

/**
 * Block size of MatMulNBits for `int8-mixed`. With all-MiniLM-L6-v2 and block sizes of 32, 64 and 128, texts of 128 tokens
 * are computed 1.44, 1.57 and 1.60 times as fast as in float32. The mean cosine with the edge's vectors is 0.99857, 0.99854
 * and 0.99843.
 */
const MIXED_BLOCK = 64;

/** Rounding options that improve accuracy. docs/accuracy.md has the measurements. */
const gptq: RoundingOptions = { ...ROUND_TO_NEAREST, gptq: true };
const gptqAndClipping: RoundingOptions = { ...gptq, clipping: true };

/**
 * All precisions that a fused graph can be served in. `int8`, `int8-mixed` and `int8-blocks` are for onnxruntime on CPUs.
 */
export const precisions: Readonly<Record<Precision, (fused: Graph, options?: PrecisionOptions) => Quantizer>> = {
  /** Uses onnxruntime's fastest int8 kernels. They have one scale per activation tensor, so activations are smoothed. */
  int8: (fused, options = {}) => {
    const { graph, statistics } = smoothActivations(untiedWeights(fused), "gains", options.statistics);
    const schemes = { int4: matMulNBits({ bits: 4, block: BLOCK }), int8: int8Dynamic() };
    return onCpu(mixedPrecision(graph, int4Nodes(graph, options), schemes, weightQuantizer(gptq, statistics)));
  },
  /**
   * Like `int8`, but only attention with its packed projections has one scale per activation tensor. All other layers use
   * MatMulNBits, which has separate scales for each token. Activations are smoothed by their ranges on texts.
   */
  "int8-mixed": (fused, options = {}) => {
    const { graph, statistics } = smoothActivations(untiedWeights(fused), "texts", options.statistics);
    const schemes = {
      int4: matMulNBits({ bits: 4, block: BLOCK }),
      blocks: matMulNBits({ bits: 8, block: MIXED_BLOCK }),
      int8: int8Dynamic(),
    };
    const quantizeWeights = weightQuantizer(gptq, statistics);
    return onCpu(mixedPrecision(graph, int4Nodes(graph, options), schemes, quantizeWeights, matMuls(graph)));
  },
  /** Uses onnxruntime's MatMulNBits: slower than `int8`, but closer to float32. */
  "int8-blocks": (tied, options = {}) => {
    const fused = untiedWeights(tied);
    const schemes = { int4: matMulNBits({ bits: 4, block: BLOCK }), int8: matMulNBits({ bits: 8, block: BLOCK }) };
    return onCpu(mixedPrecision(fused, int4Nodes(fused, options), schemes, weightQuantizer(gptq, options.statistics)));
  },
  /** Uses the operators of the edge engine. */
  "int8-edge": (original, { statistics: observed, tableBits = 8 } = {}) => {
    const { graph: fused, statistics } = edgeForm(untiedWeights(original), observed);
    // Each token has its own activation scale, so only differences between channels reduce accuracy. Smoothing needs
    // activation statistics to find these differences.
    const smooth = statistics ? smoothActivations(fused, "texts", statistics) : { graph: fused, statistics };
    const int4 = int4Nodes(smooth.graph, { tableBits });
    const schemes = { int4: int8Edge(4), int8: int8Edge() };
    return mixedPrecision(smooth.graph, int4, schemes, weightQuantizer(gptqAndClipping, smooth.statistics));
  },
  /** Half precision for GPUs. Nodes in `keep` stay in float32. */
  fp16: (fused) => async (keep) => toFp16(fused, keep),
};

/**
 * Quantizes the nodes in `int4` to 4 bits, the nodes in `blocks` to 8 bits per block, and all other nodes to 8 bits. For
 * nodes in `keep`, 4 bits become 8 bits, and 8 bits become float32.
 */
function mixedPrecision(
  graph: Graph,
  int4: ReadonlySet<string>,
  schemes: Readonly<Record<"int4" | "int8", QuantizationScheme>> & { readonly blocks?: QuantizationScheme },
  quantizeWeights: WeightQuantizer,
  blocks: ReadonlySet<string> = new Set(),
): Quantizer {
  return async (keep = new Set(), context = {}) => {
    const inEightBits = (name: string) => int4.has(name) || !keep.has(name);
    const withInt4 = await quantizeGraph(graph, schemes.int4, quantizeWeights, {
      isChosen: (name) => int4.has(name) && !keep.has(name),
    });
    const withBlocks =
      schemes.blocks &&
      (await quantizeGraph(withInt4, schemes.blocks, quantizeWeights, {
        isChosen: (name) => blocks.has(name) && inEightBits(name),
      }));
    return quantizeGraph(withBlocks ?? withInt4, schemes.int8, quantizeWeights, { isChosen: inEightBits, ...context });
  };
}

const onCpu =
  (quantize: Quantizer): Quantizer =>
  async (...args) =>
    splitSkipLayerNorms(await quantize(...args));

/** Returns the names of the linear layers that are not part of packed attention. */
const matMuls = (graph: Graph): Set<string> =>
  new Set(
    linearLayersOf(graph)
      .filter(({ bias }) => bias === undefined)
      .map(({ name }) => name),
  );

function int4Nodes(graph: Graph, { tableBits, feedForwardBits }: PrecisionOptions): Set<string> {
  return new Set([
    ...(tableBits === 4 ? embeddingNodes(graph) : []),
    ...(feedForwardBits === 4 ? feedForwardLayers(graph).map(({ name }) => name) : []),
  ]);
}
