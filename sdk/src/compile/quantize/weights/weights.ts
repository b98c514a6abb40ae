import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { reading } from "../../graph/tensor.ts";
import type { Product } from "../products.ts";
import type { Moments } from "./moments.ts";
import { type Improvements, type QuantizedWeight, quantizeWeight, type WeightPrecision } from "./quantize-weight.ts";

/** A product's weight in whole numbers. */
export type Weights = (product: Product, precision: WeightPrecision) => QuantizedWeight;

/** What each weight's products read in a calibration, by the weight's name. */
export type Calibration = Pick<ReadonlyMap<string, Moments>, "get">;

/** Quantizes the weights of one graph. What took a calibration is remembered, because it takes long. */
export function weights(improvements: Improvements, calibration?: Calibration): Weights {
  const known = new Map<string, QuantizedWeight>();
  return ({ weight }, precision) => {
    const key = `${weight.name} ${JSON.stringify(precision)}`;
    const found = known.get(key);
    if (found) return found;
    const moments = calibration?.get(weight.name);
    const quantized = reading(weight.constant, (read) => quantizeWeight(read, precision, improvements, moments));
    if (moments) known.set(key, quantized);
    return quantized;
  };
}

/** What is made once for a weight, however many products share it. */
export function oncePerWeight<T>(make: (graph: Graph, product: Product) => T): typeof make {
  const made = new WeakMap<Value, T>();
  return (graph, product) => {
    const known = made.get(product.weight) ?? make(graph, product);
    made.set(product.weight, known);
    return known;
  };
}
