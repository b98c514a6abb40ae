import {
  addDims,
  type Dim,
  floorDivDims,
  isNonNegative,
  maxDim,
  minDim,
  mulDims,
  sameDim,
  subDims,
} from "../../graph/dim.ts";
import type { Node, Value } from "../../graph/node.ts";
import { type DataType, isInteger } from "../../graph/tensor.ts";
import { dataTypeOf } from "../../onnx/tensor-proto.ts";
import { broadcast, type ShapeRule, singleOutput } from "../shape-rule.ts";

type Scalar = (...elements: readonly Dim[]) => Dim | undefined;

/**
 * Applies `scalar` to the contents of the inputs, element by element. If an input has only one element, this element is
 * used for all elements of the output. Returns undefined if a number is too large to be exact.
 */
function mapContents(inputs: readonly (Value | undefined)[], scalar: Scalar): readonly Dim[] | undefined {
  const contents = inputs.map((input) => (input?.shape && input.shape.length <= 1 ? input.content : undefined));
  if (contents.some((content) => content === undefined)) return undefined;
  if (!contents.flatMap((content) => content ?? []).every(isExact)) return undefined;
  const lengths = contents.map((content) => content?.length ?? 0);
  const length = lengths.includes(0) ? 0 : Math.max(...lengths);
  const result: Dim[] = [];
  for (let i = 0; i < length; i++) {
    const element = scalar(...contents.map((content) => (content?.length === 1 ? content[0] : content?.[i]) as Dim));
    if (element === undefined || !isExact(element)) return undefined;
    result.push(element);
  }
  return result;
}

const isExact = (dim: Dim) => typeof dim !== "number" || Number.isSafeInteger(dim);

/** Makes the shape rule of an elementwise operator. `scalar` computes the elements of `content`. */
const elementwise = (scalar?: Scalar, dtype?: DataType): ShapeRule =>
  singleOutput(({ inputs }, scope) => ({
    dtype: dtype ?? inputs.at(-1)?.dtype ?? inputs[0]?.dtype,
    shape: broadcast(
      inputs.map((input) => input?.shape),
      scope,
    ),
    content: scalar && mapContents(inputs, scalar),
  }));

const truth = (value: boolean): number => (value ? 1 : 0);

/**
 * Makes a function that compares two sizes. The function returns undefined if the result depends on the values of
 * symbols.
 *
 * @param numeric compares two numbers
 * @param decided compares two formulas by their difference; undefined if the result is not the same for all sizes
 */
const compare =
  (numeric: (a: number, b: number) => boolean, decided: (difference: Dim) => boolean | undefined): Scalar =>
  (a = 0, b = 0) => {
    if (typeof a === "number" && typeof b === "number") return truth(numeric(a, b));
    const result = decided(subDims(a, b));
    return result === undefined ? undefined : truth(result);
  };

const isNegative = (dim: Dim) => isNonNegative(subDims(mulDims(-1, dim), 1));
const isPositive = (dim: Dim) => isNonNegative(subDims(dim, 1));
const equal = compare(
  (a, b) => a === b,
  (difference) => (difference === 0 ? true : isPositive(difference) || isNegative(difference) ? false : undefined),
);
const less = compare(
  (a, b) => a < b,
  (difference) => (isNegative(difference) ? true : isNonNegative(difference) ? false : undefined),
);
const not = (value: Dim | undefined): Dim | undefined => (value === undefined ? undefined : subDims(1, value));

/** Integer division rounds towards zero. For sizes, which are not negative, this is the same as rounding down. */
const divide: Scalar = (a = 0, b = 1) => {
  if (typeof a === "number" && typeof b === "number") return b === 0 ? undefined : Math.trunc(a / b);
  return b !== 0 && isNonNegative(a) && isNonNegative(b) ? floorDivDims(a, b) : undefined;
};

const modulo: Scalar = (a = 0, b = 1) =>
  typeof a === "number" && typeof b === "number" && b > 0 && a >= 0 ? a % b : undefined;

export const elementwiseRules: Readonly<Record<string, ShapeRule>> = {
  Add: elementwise((a = 0, b = 0) => addDims(a, b)),
  Sub: elementwise((a = 0, b = 0) => subDims(a, b)),
  Mul: elementwise((a = 0, b = 0) => mulDims(a, b)),
  Div: elementwise(divide),
  Mod: elementwise(modulo),
  Max: elementwise((...all) => all.reduce(maxDim)),
  Min: elementwise((...all) => all.reduce(minDim)),
  Neg: elementwise((a = 0) => mulDims(-1, a)),
  Abs: elementwise((a = 0) => (isNonNegative(a) ? a : isNonNegative(mulDims(-1, a)) ? mulDims(-1, a) : undefined)),
  Equal: elementwise(equal, "bool"),
  Less: elementwise(less, "bool"),
  Greater: elementwise((a = 0, b = 0) => less(b, a), "bool"),
  LessOrEqual: elementwise((a = 0, b = 0) => not(less(b, a)), "bool"),
  GreaterOrEqual: elementwise((a = 0, b = 0) => not(less(a, b)), "bool"),
  Not: elementwise(not, "bool"),
  And: elementwise((a = 0, b = 0) => mulDims(a, b), "bool"),
  Or: elementwise((a = 0, b = 0) => subDims(addDims(a, b), mulDims(a, b)), "bool"),
  Xor: elementwise(undefined, "bool"),
  IsNaN: elementwise(undefined, "bool"),
  IsInf: elementwise(undefined, "bool"),
  Where: elementwise((condition, yes, no) =>
    condition === 1 ? yes : condition === 0 ? no : sameDim(yes, no) ? yes : undefined,
  ),
  Identity: elementwise((a) => a),
  Cast: singleOutput((node) => {
    const [x] = node.inputs;
    const dtype = dataTypeOf(node.int("to"));
    const whole = isInteger(dtype) && dtype !== "bool" && isInteger(x?.dtype);
    return { dtype, shape: x?.shape, content: whole ? x?.content : undefined };
  }),
  CastLike: singleOutput(({ inputs: [x, like] }) => ({ dtype: like?.dtype, shape: x?.shape })),
  Pow: singleOutput(({ inputs: [x, y] }, scope) => ({
    dtype: x?.dtype,
    shape: broadcast([x?.shape, y?.shape], scope),
  })),
  ...Object.fromEntries(
    [
      ...["Sqrt", "Exp", "Log", "Erf", "Tanh", "Sigmoid", "Relu", "Gelu", "Reciprocal", "Sin", "Cos", "Ceil", "Floor"],
      ...[
        "Round",
        "Sign",
        "Softplus",
        "LeakyRelu",
        "Elu",
        "Softsign",
        "Mish",
        "HardSigmoid",
        "BitwiseAnd",
        "BitwiseOr",
      ],
      ...["BitwiseNot", "PRelu", "Swish", "HardSwish", "Celu", "Selu"],
    ].map((opType) => [opType, elementwise()]),
  ),
};

/** Whether each element of a node's output depends only on the elements of its inputs at the same place. */
export const isElementwise = ({ opType, domain }: Node): boolean =>
  domain === "" && Object.hasOwn(elementwiseRules, opType);
