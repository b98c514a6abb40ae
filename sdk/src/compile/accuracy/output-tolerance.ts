import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node } from "../graph/node.ts";
import { int } from "../graph/node.ts";
import { isView } from "../graph/operators.ts";
import { lazyTensor, numbersOf, reading, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import { compareNumbers, type NumbersComparison } from "./compare-numbers.ts";

/** The kind of rounding that decides how far the outputs of two equal models may differ. */
export type Arithmetic = "float32" | "float16" | "quantized";

/**
 * Tolerance per element for float32. A different order of additions changes a float32 sum by about 1e-6 of the size of
 * its terms, and these differences add up over the layers.
 */
const FLOAT32 = { absolute: 1e-4, relative: 1e-4 };

/**
 * Tolerance per element for float16, in units in the last place of the output's largest element. An unfused model rounds
 * after every operator, a fused model after every fused operator. BERT with random weights measures 5 units, both with 12
 * and with 24 layers.
 */
const FLOAT16_UNITS = 8;

/**
 * Tolerance for models with quantized activations: the norm of the difference, as a share of the output's norm. It corresponds to
 * a cosine of 0.999. A difference of 1e-7 can move an activation to the next of 256 values, and later layers spread this change over
 * the whole token. A ModernBERT with 3 layers measures a share of 0.003.
 */
const QUANTIZED_SHARE = Math.sqrt(2 * (1 - 0.999));

/** Tolerance for integers and booleans. They must be equal. */
const EXACT = { absolute: 0.5, relative: 0 };

/** Operators that round activations to integers. A model in which only the weights are quantized computes in float32. */
const quantizing = /^(QuantizeLinear|DynamicQuantize\w+|QLinear\w+|QAttention|QGemm)$/;
/** Operators that move or convert elements. They round only in a conversion. */
const moving = /^(Cast|CastLike|Gather|GatherND|Transpose|Expand|Slice|Split|Concat)$/;

/** Returns the arithmetic of a graph. The type of its outputs may differ: a float16 model may return float32. */
export function arithmeticOf(graph: Graph): Arithmetic {
  const nodes = [...graph.nodes];
  if (nodes.some(({ opType }) => quantizing.test(opType))) return "quantized";
  const isHalf = (node: Node) => node.inputs.some((input) => input?.constant?.dtype === "float16");
  return nodes.some((node) => isHalf(node) && !isView(node) && !moving.test(node.opType)) ? "float16" : "float32";
}

/** Compares an output with the original's. `arithmetic` is the arithmetic of the original model and sets the tolerance. */
export function compareOutputs(original: Tensor, found: Tensor, arithmetic: Arithmetic): NumbersComparison {
  const [a, b] = [numbersOf(original), numbersOf(found)];
  if (!original.dtype.startsWith("float")) return compareNumbers(a, b, EXACT);
  if (arithmetic === "quantized") return { ...compareNumbers(a, b, FLOAT32), ofTolerance: normShare(a, b) };
  const isHalf = arithmetic === "float16" || original.dtype === "float16";
  return compareNumbers(a, b, isHalf ? { absolute: FLOAT16_UNITS * float16Unit(a), relative: 0 } : FLOAT32);
}

/** Returns the distance between neighboring float16 numbers at the largest finite element. */
function float16Unit(values: ArrayLike<number>): number {
  const largest = Array.from(values, Math.abs)
    .filter(Number.isFinite)
    .reduce((most, value) => Math.max(most, value), 2 ** -14);
  return 2 ** (Math.floor(Math.log2(largest)) - 10);
}

/** Returns the distance of two vectors as a share of the tolerance for quantized models; infinity if a number is NaN. */
function normShare(original: ArrayLike<number>, found: ArrayLike<number>): number {
  if (original.length !== found.length) return Number.POSITIVE_INFINITY;
  let [squares, distances] = [0, 0];
  for (let i = 0; i < original.length; i++) {
    const [x, y] = [original[i] as number, found[i] as number];
    if (Number.isFinite(x)) squares += x * x;
    if (!Object.is(x, y)) distances += (x - y) ** 2;
  }
  const share = distances === 0 ? 0 : Math.sqrt(distances / squares) / QUANTIZED_SHARE;
  return Number.isNaN(share) ? Number.POSITIVE_INFINITY : share;
}

/**
 * Returns a copy of a graph in which float16 is replaced by float32: in constants, casts, inputs and outputs.
 */
export function inFloat32(graph: Graph): Graph {
  const copy = copyGraph(graph);
  for (const input of copy.inputs) if (input.dtype === "float16") input.dtype = "float32";
  for (const value of [...copy.constants()]) {
    const { constant } = value;
    if (constant?.dtype !== "float16") continue;
    const { shape } = constant;
    const whole = lazyTensor("float32", shape, () => tensor("float32", shape, reading(constant, toFloat32)).data);
    copy.replace(value, copy.constant(`${value.name}/float32`, whole));
  }
  for (const node of copy.sorted()) {
    for (const output of node.outputs) if (output?.dtype === "float16") output.dtype = "float32";
    if (!node.is("Cast") || node.int("to") !== dataTypes.float16) continue;
    copy.replace(node.output, copy.add("Cast", node.inputs, { attributes: { to: int(dataTypes.float32) } }).output);
  }
  copy.prune();
  const outputs = copy.outputs.map(({ name, value }) => ({ name, value, declaration: undefined }));
  copy.outputs.splice(0, outputs.length, ...outputs);
  copy.declarations.clear();
  return copy;
}
