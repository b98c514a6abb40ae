import { BertEdgeError } from "../../../artifact/error.ts";
import { int } from "../../graph/attribute.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { float32Scalar, reading, type Tensor, tensor } from "../../graph/tensor.ts";
import { mergeCommonSubexpressions } from "../../normalize/common-subexpressions.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { symmetricStep } from "../symmetric-step.ts";
import { I8 } from "../weights/grid.ts";
import { quantizeWeight, TO_THE_NEAREST } from "../weights/quantize-weight.ts";
import type { Range } from "./histogram.ts";
import { plainProducts, productsIn } from "./plain-products.ts";

/** The first in which DequantizeLinear has an axis: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html */
const LEAST_OPSET = 13;

/** Of what was 0 throughout: any step is as good. onnxruntime's own tool takes 1. */
const ANY_STEP = 1;

/**
 * Static int8 in standard operators, for TensorRT and onnxruntime: the input of every MatMul and Gemm with a constant
 * float32 weight goes through QuantizeLinear and DequantizeLinear, with one step for the tensor, and the weight is int8 with
 * a step for every output. Zero points are 0, as TensorRT wants them:
 * https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/work-quantized-types.html
 *
 * The projections of onnxruntime's Attention become products of their own before its MultiHeadAttention; an attention with
 * another mask than one of keys, or with keys of before, stays in float32.
 *
 * @param ranges of the inputs of products, values of `graph`, as `observedRanges` finds them
 * @returns a copy
 * @throws BertEdgeError `calibration_invalid` when a range is missing or not finite, `quantize_opset` below opset 13
 */
export function quantizeInt8Static(graph: Graph, ranges: ReadonlyMap<Value, Range>): Graph {
  assertOpset(graph);
  const { graph: result, twins } = plainProducts(graph);
  const rangeOf = new Map([...ranges].map(([value, range]) => [twins.get(value), range]));
  const weights = new Map<Value, Value>();
  for (const node of productsIn(result)) {
    const [x, weight, bias] = node.inputs as [Value, Value, Value | undefined];
    const input = roundedInput(result, x, stepOf(node, rangeOf.get(x)));
    const matrix = weights.get(weight) ?? integerWeight(result, weight);
    weights.set(weight, matrix);
    result.setInputs(node, [input, matrix, ...(bias ? [bias] : [])]);
  }
  // Products that read the same, and attentions that share packed weights, go on sharing them.
  mergeCommonSubexpressions(result);
  inferShapes(result);
  return result;
}

function roundedInput(graph: Graph, x: Value, step: number): Value {
  const scale = graph.constant(`${x.name}.scale`, float32Scalar(step));
  const zero = graph.constant(`${x.name}.zero`, zeros([]));
  const rounded = graph.add("QuantizeLinear", [x, scale, zero], { name: `${x.name}.int8` }).output;
  return graph.add("DequantizeLinear", [rounded, scale, zero], { name: `${x.name}.rounded` }).output;
}

function integerWeight(graph: Graph, { name, constant }: Value): Value {
  const weight = constant as Tensor;
  const { levels, step } = reading(weight, (read) => quantizeWeight(read, I8, TO_THE_NEAREST, undefined));
  const inputs = [
    graph.constant(`${name}.int8`, tensor("int8", weight.shape, levels)),
    graph.constant(`${name}.scale`, tensor("float32", [step.length], step as Float32Array<ArrayBuffer>)),
    graph.constant(`${name}.zero`, zeros([step.length])),
  ];
  return graph.add("DequantizeLinear", inputs, { name: `${name}.rounded`, attributes: { axis: int(1) } }).output;
}

const zeros = (shape: readonly number[]): Tensor => tensor("int8", shape, new Int8Array(shape[0] ?? 1));

function stepOf({ origin }: Node, range: Range | undefined): number {
  const peak = range && Math.max(Math.abs(range.least), Math.abs(range.greatest));
  if (peak !== undefined && Number.isFinite(peak)) return peak === 0 ? ANY_STEP : symmetricStep(peak);
  const what = range ? `from ${range.least} to ${range.greatest}` : "not known";
  throw new BertEdgeError("calibration_invalid", `The range of what product ${origin} reads is ${what}.`, {
    hint: "Calibrate the graph that is quantized, on texts for which it computes finite numbers.",
  });
}

function assertOpset(graph: Graph): void {
  const opset = graph.opsets.get("") ?? 1;
  if (opset >= LEAST_OPSET) return;
  throw new BertEdgeError(
    "quantize_opset",
    `The graph is of opset ${opset}, which has no int8 weights with many steps.`,
    {
      hint: `Export the model with opset ${LEAST_OPSET} or later.`,
    },
  );
}
