import { type WeightGroup, weightGroups } from "../../runtime/engine/wasm/ops/linear.ts";
import type { Graph } from "../graph/graph.ts";
import { elementCount } from "../graph/tensor.ts";
import type { CalibrationStatistics } from "./calibration/activation-statistics.ts";
import { edgeForm } from "./edge-form.ts";
import { toFp16 } from "./fp16/to-fp16.ts";
import { feedForwardLayers, type LinearLayer, linearLayersOf, untiedWeights } from "./linear-layers.ts";
import { embeddingNodes, embeddingTables, type QuantizationScheme, quantizeGraph } from "./quantize-graph.ts";
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
  /** Bits of the weights of linear layers, for the edge engine. Default: 8. */
  readonly weightBits?: 8 | 4;
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
    return onCpu(mixedPrecision(graph, int4Blocks(graph, options), int8Dynamic(), weightQuantizer(gptq, statistics)));
  },
  /**
   * Like `int8`, but only attention with its packed projections has one scale per activation tensor. All other layers use
   * MatMulNBits, which has separate scales for each token. Activations are smoothed by their ranges on texts.
   */
  "int8-mixed": (fused, options = {}) => {
    const { graph, statistics } = smoothActivations(untiedWeights(fused), "texts", options.statistics);
    const blocks = { scheme: matMulNBits({ bits: 8, block: MIXED_BLOCK }), nodes: matMuls(graph) };
    const parts = [...int4Blocks(graph, options), blocks];
    return onCpu(mixedPrecision(graph, parts, int8Dynamic(), weightQuantizer(gptq, statistics)));
  },
  /** Uses onnxruntime's MatMulNBits: slower than `int8`, but closer to float32. */
  "int8-blocks": (tied, options = {}) => {
    const fused = untiedWeights(tied);
    const others = matMulNBits({ bits: 8, block: BLOCK });
    return onCpu(mixedPrecision(fused, int4Blocks(fused, options), others, weightQuantizer(gptq, options.statistics)));
  },
  /** Uses the operators of the edge engine. */
  "int8-edge": (original, { statistics, tableBits = 8, weightBits = 8 } = {}) => {
    const { layers, quantizer } = edgeQuantizers(original, statistics);
    return quantizer({ tableBits, groups: weightBits === 4 ? allInGroups(layers, 16) : new Map() });
  },
  /** Half precision for GPUs. Nodes in `keep` stay in float32. */
  fp16: (fused) => async (keep) => toFp16(fused, keep),
};

/** A scheme, and the nodes that it quantizes. */
interface Part {
  readonly scheme: QuantizationScheme;
  readonly nodes: ReadonlySet<string>;
  /** Whether the nodes get fewer than 8 bits. */
  readonly isSmall?: boolean;
}

/**
 * Quantizes each part with its scheme, and all other nodes with `others`, in 8 bits. Of the nodes in `keep`, those in 4 bits become
 * 8 bits, and those in 8 bits become float32.
 */
function mixedPrecision(
  graph: Graph,
  parts: readonly Part[],
  others: QuantizationScheme,
  quantizeWeights: WeightQuantizer,
): Quantizer {
  const small = new Set(parts.flatMap(({ nodes, isSmall }) => (isSmall ? [...nodes] : [])));
  return async (keep = new Set(), context = {}) => {
    const inEightBits = (name: string) => small.has(name) || !keep.has(name);
    let result = graph;
    for (const { scheme, nodes, isSmall } of parts) {
      const isChosen = (name: string) => nodes.has(name) && (isSmall ? !keep.has(name) : inEightBits(name));
      result = await quantizeGraph(result, scheme, quantizeWeights, { isChosen, ...context });
    }
    return quantizeGraph(result, others, quantizeWeights, { isChosen: inEightBits, ...context });
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

/** The nodes of onnxruntime's precisions in 4 bits. */
function int4Blocks(graph: Graph, { tableBits, feedForwardBits }: PrecisionOptions): Part[] {
  const names = [
    ...(tableBits === 4 ? embeddingNodes(graph) : []),
    ...(feedForwardBits === 4 ? feedForwardLayers(graph).map(({ name }) => name) : []),
  ];
  return [{ scheme: matMulNBits({ bits: 4, block: BLOCK }), nodes: new Set(names), isSmall: true }];
}

/** Which weights of the edge engine have 4 bits. */
export interface EdgeForms {
  readonly tableBits: 8 | 4;
  /** Sizes of the groups of layers in 4 bits, by the name of the layer. */
  readonly groups: ReadonlyMap<string, WeightGroup>;
}

/** Quantizers of one graph for the edge engine. They share the weights that are quantized. */
export interface EdgeQuantizers {
  /** The layers whose weights can have 4 bits. */
  readonly layers: readonly LinearLayer[];
  /** The names of the nodes that look up token embeddings. */
  readonly tables: readonly string[];
  /** Number of elements of these tables. */
  readonly tableElements: number;
  readonly quantizer: (forms: EdgeForms) => Quantizer;
}

export function edgeQuantizers(original: Graph, observed: CalibrationStatistics | undefined): EdgeQuantizers {
  const form = edgeForm(untiedWeights(original), observed);
  // Each token has its own activation scale, so only differences between channels reduce accuracy. Smoothing needs
  // activation statistics to find these differences.
  const { graph, statistics } = form.statistics
    ? smoothActivations(form.graph, "texts", form.statistics)
    : { graph: form.graph, statistics: undefined };
  const quantizeWeights = weightQuantizer(gptqAndClipping, statistics);
  const tables = embeddingNodes(graph);
  const sizes = embeddingTables(graph).map(({ constant }) => elementCount(constant.shape));
  return {
    layers: linearLayersOf(graph).filter(({ weight }) => (weight.constant.shape[0] ?? 0) % weightGroups[0] === 0),
    tables,
    tableElements: sizes.reduce((sum, size) => sum + size, 0),
    quantizer({ tableBits, groups }) {
      const inGroups = weightGroups.map((group): Part => {
        const nodes = [...groups].filter(([, size]) => size === group).map(([name]) => name);
        return { scheme: int8Edge({ group }), nodes: new Set(nodes), isSmall: true };
      });
      const table = {
        scheme: int8Edge({ tableBits: 4 }),
        nodes: new Set(tableBits === 4 ? tables : []),
        isSmall: true,
      };
      return mixedPrecision(graph, [...inGroups, table], int8Edge(), quantizeWeights);
    },
  };
}

/** Puts all layers in groups of one size. */
export const allInGroups = (layers: readonly LinearLayer[], group: WeightGroup): Map<string, WeightGroup> =>
  new Map(layers.map(({ name }) => [name, group]));
