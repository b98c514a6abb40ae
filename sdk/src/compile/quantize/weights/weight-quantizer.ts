import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { reading, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { CalibrationStatistics } from "../calibration/activation-statistics.ts";
import type { LinearLayer } from "../linear-layers.ts";
import { type QuantizedWeight, quantizeWeight, type RoundingOptions, type WeightPrecision } from "./quantize-weight.ts";

/** Quantizes the weight matrix of a linear layer. */
export type WeightQuantizer = (layer: LinearLayer, precision: WeightPrecision) => QuantizedWeight;

/** Makes a quantizer for the weights of one graph. The quantizer caches results that use statistics: GPTQ is slow. */
export function weightQuantizer(rounding: RoundingOptions, byWeight?: CalibrationStatistics): WeightQuantizer {
  const known = new Map<string, QuantizedWeight>();
  return ({ weight }, precision) => {
    const key = `${weight.name} ${JSON.stringify(precision)}`;
    const found = known.get(key);
    if (found) return found;
    const statistics = byWeight?.get(weight.name);
    const quantized = reading(weight.constant, (read) => quantizeWeight(read, precision, rounding, statistics));
    if (statistics) known.set(key, quantized);
    return quantized;
  };
}

/** Caches the results of `make` by weight matrix, so that layers with the same weight share one result. */
export function oncePerWeight<T>(make: (graph: Graph, layer: LinearLayer) => T): typeof make {
  const made = new WeakMap<Value, T>();
  return (graph, layer) => {
    const known = made.get(layer.weight) ?? make(graph, layer);
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
