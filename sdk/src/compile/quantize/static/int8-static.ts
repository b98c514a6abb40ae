import { BertEdgeError } from "../../../artifact/error.ts";
import type { Graph } from "../../graph/graph.ts";
import { int, type Node, type Value } from "../../graph/node.ts";
import { float32Scalar, reading, type Tensor, tensor } from "../../graph/tensor.ts";
import { mergeCommonSubexpressions } from "../../normalize/common-subexpressions.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { symmetricScale } from "../scales.ts";
import { INT8_SYMMETRIC } from "../weights/quantization-parameters.ts";
import { quantizeWeight, ROUND_TO_NEAREST } from "../weights/quantize-weight.ts";
import { constantMatMuls, exposeMatMuls } from "./expose-matmuls.ts";
import type { ActivationRange } from "./histogram.ts";

/** The first opset with per-channel DequantizeLinear: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html */
const MIN_OPSET = 13;

/** Scale of activations that are always 0. Any scale works; onnxruntime's own tool also uses 1. */
const SCALE_OF_ZEROS = 1;

/**
 * Quantizes a graph to static int8 in standard operators (QDQ), for TensorRT and onnxruntime. The input of every MatMul and
 * Gemm with a constant float32 weight passes through QuantizeLinear and DequantizeLinear, with one scale for the tensor. The
 * weight is int8 with a scale per output channel. Zero points are 0, because TensorRT requires it:
 * https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/work-quantized-types.html
 *
 * The projections of onnxruntime's Attention become MatMuls, followed by MultiHeadAttention. Attention with past keys, or
 * with a mask that is not [batch, keys], stays in float32.
 *
 * @param ranges activation ranges that `observeRanges` returned for the same graph
 * @returns a copy
 * @throws BertEdgeError `calibration_invalid` when a range is missing or not finite; `quantize_opset` for a graph below
 *   opset 13
 */
export function quantizeInt8Static(graph: Graph, ranges: ReadonlyMap<Value, ActivationRange>): Graph {
  assertOpset(graph);
  const { graph: result, copies } = exposeMatMuls(graph);
  const rangeOf = new Map([...ranges].map(([value, range]) => [copies.get(value), range]));
  const weights = new Map<Value, Value>();
  for (const node of constantMatMuls(result)) {
    const [x, weight, bias] = node.inputs as [Value, Value, Value | undefined];
    const input = quantizedInput(result, x, scaleOf(node, rangeOf.get(x)));
    const matrix = weights.get(weight) ?? quantizedWeight(result, weight);
    weights.set(weight, matrix);
    result.setInputs(node, [input, matrix, ...(bias ? [bias] : [])]);
  }
  // Merges equal nodes: layers with the same input then share the quantized input, and attentions with the same weight
  // share the quantized weight.
  mergeCommonSubexpressions(result);
  inferShapes(result);
  return result;
}

function quantizedInput(graph: Graph, x: Value, scaleNumber: number): Value {
  const scale = graph.constant(`${x.name}.scale`, float32Scalar(scaleNumber));
  const zero = graph.constant(`${x.name}.zero`, zeros([]));
  const rounded = graph.add("QuantizeLinear", [x, scale, zero], { name: `${x.name}.int8` }).output;
  return graph.add("DequantizeLinear", [rounded, scale, zero], { name: `${x.name}.rounded` }).output;
}

function quantizedWeight(graph: Graph, { name, constant }: Value): Value {
  const weight = constant as Tensor;
  const { values, scales } = reading(weight, (read) =>
    quantizeWeight(read, INT8_SYMMETRIC, ROUND_TO_NEAREST, undefined),
  );
  const inputs = [
    graph.constant(`${name}.int8`, tensor("int8", weight.shape, values)),
    graph.constant(`${name}.scale`, tensor("float32", [scales.length], scales as Float32Array<ArrayBuffer>)),
    graph.constant(`${name}.zero`, zeros([scales.length])),
  ];
  return graph.add("DequantizeLinear", inputs, { name: `${name}.rounded`, attributes: { axis: int(1) } }).output;
}

const zeros = (shape: readonly number[]): Tensor => tensor("int8", shape, new Int8Array(shape[0] ?? 1));

function scaleOf({ origin }: Node, range: ActivationRange | undefined): number {
  const peak = range && Math.max(Math.abs(range.min), Math.abs(range.max));
  if (peak !== undefined && Number.isFinite(peak)) return peak === 0 ? SCALE_OF_ZEROS : symmetricScale(peak);
  const problem = range ? `is not finite: ${range.min} to ${range.max}` : "was not observed";
  throw new BertEdgeError("calibration_invalid", `The input range of linear layer "${origin}" ${problem}.`, {
    hint: "Run observeRanges on the same graph, with texts for which the graph computes finite numbers.",
  });
}

function assertOpset(graph: Graph): void {
  const opset = graph.opsets.get("") ?? 1;
  if (opset >= MIN_OPSET) return;
  throw new BertEdgeError(
    "quantize_opset",
    `Opset ${opset} has no per-channel DequantizeLinear. Static int8 needs opset ${MIN_OPSET} or newer.`,
    {
      hint: `Export the model with opset ${MIN_OPSET} or newer.`,
    },
  );
}
