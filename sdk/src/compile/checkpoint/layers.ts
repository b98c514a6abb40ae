import type { Value } from "../graph/node.ts";
import { float, int, ints } from "../graph/node.ts";
import { float32Scalar, int64s, tensor } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import type { ActivationName } from "./config-keys.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { GraphWriter } from "./graph-writer.ts";
import type { LayerNormWeights, LinearWeights } from "./take-weights.ts";

export const int64 = (g: GraphWriter, value: number): Value =>
  g.constant(`int64_${value}`, tensor("int64", [], BigInt64Array.of(BigInt(value))));

export const axes = (g: GraphWriter, ...values: number[]): Value =>
  g.constant(`axes${values.join("")}`, int64s(...values));

/** Writes the positions 0, 1, … of the token ids `ids` [batch, sequence]. Output: [sequence]. */
export function writeRange(g: GraphWriter, name: string, ids: Value): Value {
  const length = g.op(`${name}.length`, "Gather", [g.op(`${name}.shape`, "Shape", [ids]), int64(g, 1)]);
  return g.op(name, "Range", [int64(g, 0), length, int64(g, 1)]);
}

/**
 * Writes the offset of every key from every query: the key's position minus the query's position. Output: [sequence,
 * sequence], one row per query.
 */
export function writeOffsets(g: GraphWriter, name: string, ids: Value): Value {
  const positions = writeRange(g, `${name}.positions`, ids);
  const keys = g.op(`${name}.keys`, "Unsqueeze", [positions, axes(g, 0)]);
  const queries = g.op(`${name}.queries`, "Unsqueeze", [positions, axes(g, 1)]);
  return g.op(name, "Sub", [keys, queries]);
}

/**
 * Writes positions as RoBERTa counts them (https://github.com/facebookresearch/fairseq, make_positions). Padding has
 * the position `padding`, the other tokens have the positions `padding + 1`, `padding + 2`, … Output: [batch, sequence]
 *
 * @param padding id of the padding token
 */
export function writePositionsAfterPadding(g: GraphWriter, name: string, ids: Value, padding: number): Value {
  const isPadding = g.op("is_padding", "Equal", [ids, int64(g, padding)]);
  const isToken = g.op("is_token", "Cast", [g.op("is_not_padding", "Not", [isPadding])], { to: int(dataTypes.int64) });
  const count = g.op("token_count", "CumSum", [isToken, int64(g, 1)]);
  return g.op(name, "Add", [g.op("token_position", "Mul", [count, isToken]), int64(g, padding)]);
}

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

type Formula = (g: GraphWriter, name: string, x: Value) => Value;

const number = (g: GraphWriter, name: string, value: number) => g.constant(name, float32Scalar(value));

/** Writes x · ½ · (1 + inner). */
const halfOnePlus = (g: GraphWriter, name: string, x: Value, inner: Value): Value => {
  const sum = g.op(`${name}.sum`, "Add", [inner, number(g, "one", 1)]);
  return g.op(name, "Mul", [g.op(`${name}.x_sum`, "Mul", [x, sum]), number(g, "half", 0.5)]);
};

/** GELU: x · ½ · (1 + erf(x / √2)), https://arxiv.org/abs/1606.08415 */
const gelu: Formula = (g, name, x) => {
  const scaled = g.op(`${name}.scaled`, "Div", [x, number(g, "sqrt2", Math.SQRT2)]);
  return halfOnePlus(g, name, x, g.op(`${name}.erf`, "Erf", [scaled]));
};

/** GELU's tanh approximation: x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), https://arxiv.org/abs/1606.08415 */
const tanhGelu: Formula = (g, name, x) => {
  const cube = g.op(`${name}.cube`, "Mul", [g.op(`${name}.square`, "Mul", [x, x]), x]);
  const cubic = g.op(`${name}.cubic`, "Mul", [cube, number(g, "gelu_cubic", 0.044715)]);
  const inner = g.op(`${name}.inner`, "Add", [x, cubic]);
  const scaled = g.op(`${name}.scaled`, "Mul", [inner, number(g, "gelu_slope", Math.sqrt(2 / Math.PI))]);
  return halfOnePlus(g, name, x, g.op(`${name}.tanh`, "Tanh", [scaled]));
};

/** SiLU with a slope: x · sigmoid(slope · x) */
const sigmoidUnit =
  (slope: number): Formula =>
  (g, name, x) => {
    const scaled = slope === 1 ? x : g.op(`${name}.scaled`, "Mul", [x, number(g, `slope_${slope}`, slope)]);
    return g.op(name, "Mul", [x, g.op(`${name}.sigmoid`, "Sigmoid", [scaled])]);
  };

const relu: Formula = (g, name, x) => g.op(name, "Relu", [x]);

/** Activation formulas by their names in transformers (ACT2FN). */
export const activationFormulas: Readonly<Record<ActivationName, Formula>> = {
  gelu,
  gelu_new: tanhGelu,
  gelu_pytorch_tanh: tanhGelu,
  gelu_fast: tanhGelu,
  quick_gelu: sigmoidUnit(1.702),
  relu,
  silu: sigmoidUnit(1),
  swish: sigmoidUnit(1),
};
