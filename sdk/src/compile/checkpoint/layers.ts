import { float, int, ints } from "../graph/attribute.ts";
import type { Value } from "../graph/node.ts";
import type { GraphWriter } from "./graph-writer.ts";
import type { LayerNormWeights, LinearWeights } from "./take-weights.ts";

/** Writes (x − mean) / √(variance + epsilon) · γ + β over the last axis, https://arxiv.org/abs/1607.06450 */
export function writeLayerNorm(
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
