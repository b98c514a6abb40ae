import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { lazyTensor, reading, tensor, toFloat32 } from "../graph/tensor.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import {
  type ActivationStatistics,
  type CalibrationStatistics,
  type ScaledCalibration,
  type ScaledStatistics,
  sumsOfSquares,
} from "./calibration/activation-statistics.ts";
import { linearLayerOf } from "./linear-layers.ts";

/**
 * α for ranges observed on texts: the share of a channel's range that moves from the activation into the weight. For
 * all-MiniLM-L6-v2 and bert-edge-mini-sst2, smoothing all layers with 0.5 was more accurate than smoothing some or all
 * layers with 0.3. SmoothQuant uses 0.5 too.
 */
const TEXTS_ALPHA = 0.5;

/**
 * α for ranges derived from the gains of a layer normalization. `NORMALIZED_PEAK` is the assumed peak of a normalized
 * channel, in standard deviations. Tried: α ∈ {0.3, 0.5, 0.7, 1} and peak ∈ {1, 3, 10}. α = 0.7 with peak 10 gave the
 * highest minimum cosine on the texts of each model's golden.json: 0.985 for all-MiniLM-L6-v2 (0.974 without
 * smoothing), and 0.996 for bert-edge-mini (0.994 without smoothing).
 */
const GAINS_ALPHA = 0.7;
const NORMALIZED_PEAK = 10;

export interface SmoothedGraph {
  readonly graph: Graph;
  /** Activation statistics of the smoothed graph's layers; undefined without statistics of the original graph. */
  readonly statistics: ScaledCalibration | undefined;
}

/**
 * Makes the ranges of a linear layer's input channels more equal, so that one scale fits all of them better:
 * (x / s) · (s ⊙ W) = x · W with s = range(x)^α / range(W)^(1−α) per channel.
 *
 * SmoothQuant, https://arxiv.org/abs/2211.10438, with two ways to find the range of a channel:
 *
 * - By texts: the observed root mean square. It suits engines with one activation scale per token. It does not suit
 *   engines with one scale per tensor: such a scale must cover the peaks of all tokens, and the root mean square does
 *   not show peaks.
 * - By gains: |β| + NORMALIZED_PEAK · |γ| of the layer normalization before the layer. This needs no texts.
 *
 * @param statistics activation statistics of the graph's layers. Layers without statistics are smoothed by gains.
 */
export function smoothActivations(
  fused: Graph,
  by: "gains" | "texts",
  statistics?: CalibrationStatistics,
): SmoothedGraph {
  const graph = copyGraph(fused);
  const known = new Map<string, readonly [inverse: Value, scaled: Value]>();
  /** Original weight and 1/s [in], by name of the scaled weight. */
  const origins = new Map<string, readonly [weight: string, factors: Float32Array]>();
  for (const node of graph.sorted()) {
    const [x, weight, ...rest] = node.inputs;
    const scales = smoothingScales(node, by === "texts" && weight ? statistics?.get(weight.name) : undefined);
    if (!scales || !x || !weight) continue;
    // Layers continue to share a weight if everything that determines their scales is the same.
    const key = [weight, ...scales.sources].map((value) => value?.name).join(" ");
    const [inverse, scaled] = known.get(key) ?? [
      graph.constant(`${node.name}.smoothing`, tensor("float32", [scales.inverse.length], scales.inverse)),
      graph.constant(`${weight.name}.smoothed`, scales.weight),
    ];
    known.set(key, [inverse, scaled]);
    const smoothed = graph.add("Mul", [x, inverse], { name: `${node.name}.smoothed` }).output;
    graph.setInputs(node, [smoothed, scaled, ...rest]);
    origins.set(scaled.name, [weight.name, scales.inverse]);
  }
  inferShapes(graph);
  const statisticsOf = (name: string): ScaledStatistics | undefined => {
    const [weight, factors] = origins.get(name) ?? [name];
    const found = statistics?.get(weight);
    return found && { ...found, factors };
  };
  return { graph, statistics: statistics && { get: statisticsOf } };
}

/**
 * Computes 1/s [in] and s ⊙ W [in, out], and lists the constants (without the weight) that determine s. Returns undefined
 * for nodes that are not smoothed.
 */
function smoothingScales(node: Node, statistics: ActivationStatistics | undefined) {
  const layer = linearLayerOf(node);
  const norm = node.inputs[0]?.producer && gainAndOffset(node.inputs[0].producer);
  if (!layer || !(statistics || norm)) return undefined;
  const weight = layer.weight.constant;
  const alpha = statistics ? TEXTS_ALPHA : GAINS_ALPHA;
  const ranges = statistics ? rootMeanSquares(statistics) : normalizedRanges(norm ?? []);
  const outputs = weight.shape[1] ?? 0;
  const scalesOf = (values: Float32Array) =>
    ranges.map((range, channel) => {
      const row = values.subarray(channel * outputs, (channel + 1) * outputs);
      const peak = row.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
      return range > 0 && peak > 0 ? range ** alpha / peak ** (1 - alpha) : 1;
    });
  const scales = reading(weight, (read) => scalesOf(toFloat32(read)));
  const scaled = (values: Float32Array<ArrayBuffer>) =>
    new Uint8Array(values.map((value, at) => value * (scales[Math.floor(at / outputs)] as number)).buffer);
  return {
    sources: statistics ? [] : (norm ?? []),
    inverse: scales.map((scale) => 1 / scale),
    weight: lazyTensor("float32", weight.shape, () => reading(weight, (read) => scaled(toFloat32(read)))),
  };
}

const rootMeanSquares = (statistics: ActivationStatistics): Float32Array<ArrayBuffer> =>
  Float32Array.from(sumsOfSquares(statistics), (sum) => Math.sqrt(sum / statistics.tokens));

function normalizedRanges([gamma, beta]: readonly (Value | undefined)[]): Float32Array<ArrayBuffer> {
  const [gains, offsets] = [gamma, beta].map((value) => value?.constant && toFloat32(value.constant));
  return Float32Array.from(gains ?? [], (gain, i) => Math.abs(offsets?.[i] ?? 0) + NORMALIZED_PEAK * Math.abs(gain));
}

/** Indices of the inputs γ and β, by operator. RMSNorm has no β. */
const parameterInputs: Record<string, readonly [gamma: number, beta?: number]> = {
  EmbedLayerNormalization: [5, 6],
  SkipLayerNormalization: [2, 3],
  LayerNormalization: [1, 2],
  SkipSimplifiedLayerNormalization: [2],
  SimplifiedLayerNormalization: [1],
};

/** Returns γ and β if they are constants; β is undefined if there is none. */
function gainAndOffset({ opType, inputs }: Node): readonly [Value, Value | undefined] | undefined {
  const at = parameterInputs[opType];
  if (at === undefined) return undefined;
  const [gamma, beta] = at.map((input) => (input === undefined ? undefined : inputs[input]));
  return gamma?.constant && (!beta || beta.constant) ? [gamma, beta] : undefined;
}
