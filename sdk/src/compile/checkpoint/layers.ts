import { float, int, ints, type Value } from "../graph/node.ts";
import { float32Scalar } from "../graph/tensor.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { GraphWriter } from "./graph-writer.ts";
import type { LayerNormWeights, LinearWeights } from "./take-weights.ts";

/** Writes the family's normalization over the last axis: LayerNorm or RMSNorm. */
export const writeNorm = (
  g: GraphWriter,
  name: string,
  x: Value,
  weights: LayerNormWeights,
  { normalization, layerNormEpsilon }: Pick<EncoderConfig, "normalization" | "layerNormEpsilon">,
): Value => (normalization === "RMSNorm" ? writeRmsNorm : writeLayerNorm)(g, name, x, weights, layerNormEpsilon);

/** Writes x / √(mean(x²) + epsilon) · γ over the last axis, https://arxiv.org/abs/1910.07467 */
function writeRmsNorm(g: GraphWriter, name: string, x: Value, { gamma }: LayerNormWeights, epsilon: number): Value {
  const square = g.op(`${name}.square`, "Mul", [x, x]);
  const mean = g.op(`${name}.mean`, "ReduceMean", [square], { axes: ints(-1), keepdims: int(1) });
  const sum = g.op(`${name}.sum`, "Add", [mean, g.constant(`epsilon_${epsilon}`, float32Scalar(epsilon))]);
  const normalized = g.op(`${name}.normalized`, "Div", [x, g.op(`${name}.root`, "Sqrt", [sum])]);
  return g.op(name, "Mul", [normalized, g.constant(`${name}.gamma`, gamma)]);
}

/** Writes (x − mean) / √(variance + epsilon) · γ + β over the last axis, https://arxiv.org/abs/1607.06450 */
function writeLayerNorm(
  g: GraphWriter,
  name: string,
  x: Value,
  { gamma, beta }: LayerNormWeights,
  epsilon: number,
): Value {
  const parameters = [g.constant(`${name}.gamma`, gamma), ...(beta ? [g.constant(`${name}.beta`, beta)] : [])];
  return g.op(name, "LayerNormalization", [x, ...parameters], { epsilon: float(epsilon), axis: int(-1) });
}

/** Writes x · weightᵀ + bias, or x · weightᵀ if there is no bias. */
export function writeLinear(g: GraphWriter, name: string, x: Value, { weight, bias }: LinearWeights): Value {
  const transposed = g.op(`${name}.transposed`, "Transpose", [g.constant(`${name}.weight`, weight)], {
    perm: ints(1, 0),
  });
  if (!bias) return g.op(name, "MatMul", [x, transposed]);
  return g.op(name, "Add", [g.op(`${name}.product`, "MatMul", [x, transposed]), g.constant(`${name}.bias`, bias)]);
}
