import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { tensor, toFloat32 } from "../../graph/tensor.ts";
import type { ScaledCalibration } from "../calibration/activation-statistics.ts";
import type { LinearLayer } from "../linear-layers.ts";
import type { QuantizedWeight, RoundingOptions, WeightPrecision } from "./quantize-weight.ts";
import { quantizeWeights, type WorkContext } from "./quantize-weights.ts";

/**
 * Quantizes the weight matrices of linear layers.
 *
 * @returns the quantized weights by name of the weight matrix
 */
export type WeightQuantizer = (
  layers: readonly LinearLayer[],
  precision: WeightPrecision,
  context?: WorkContext,
) => Promise<ReadonlyMap<string, QuantizedWeight>>;

/**
 * Makes a quantizer for the weights of one graph. Several weights are quantized at the same time. The quantizer caches
 * results that use statistics: GPTQ is slow.
 */
export function weightQuantizer(rounding: RoundingOptions, byWeight?: ScaledCalibration): WeightQuantizer {
  const known = new Map<string, QuantizedWeight>();
  return async (layers, precision, context) => {
    const keyOf = (weight: string) => `${weight} ${JSON.stringify(precision)}`;
    const weights = new Map(layers.map(({ weight }) => [weight.name, weight.constant]));
    const missing = [...weights].filter(([name]) => !known.has(keyOf(name)));
    const found = await quantizeWeights(
      missing.map(([name, weight]) => ({ weight, precision, rounding, statistics: () => byWeight?.get(name) })),
      context,
    );
    const quantized = new Map(missing.map(([name], i) => [name, found[i] as QuantizedWeight]));
    if (byWeight) for (const [name, weight] of quantized) known.set(keyOf(name), weight);
    return new Map(
      [...weights.keys()].map((name) => [name, (quantized.get(name) ?? known.get(keyOf(name))) as QuantizedWeight]),
    );
  };
}

/** Caches the results of `make` by weight matrix, so that layers with the same weight share one result. */
export function oncePerWeight<T>(
  make: (graph: Graph, layer: LinearLayer, quantized: QuantizedWeight) => T,
): typeof make {
  const made = new WeakMap<Value, T>();
  return (graph, layer, quantized) => {
    const known = made.get(layer.weight) ?? make(graph, layer, quantized);
    made.set(layer.weight, known);
    return known;
  };
}

/**
 * Returns the layer's bias plus the bias correction of its quantized weight; undefined if there is neither. A bias that
 * is not constant is returned without the correction.
 */
export function correctedBias(
  graph: Graph,
  { name, bias }: LinearLayer,
  correction: Float32Array | undefined,
): Value | undefined {
  if (!correction || (bias && !bias.constant)) return bias;
  const before = bias?.constant && toFloat32(bias.constant);
  const values = correction.map((value, i) => value + (before?.[i] ?? 0));
  return graph.constant(`${name}.bias`, tensor("float32", [values.length], values as Float32Array<ArrayBuffer>));
}
