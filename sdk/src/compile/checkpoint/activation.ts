import type { Value } from "../graph/node.ts";
import { float32Scalar } from "../graph/tensor.ts";
import type { ActivationName } from "./config-keys.ts";
import type { GraphWriter } from "./graph-writer.ts";

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
