import { overflowsInt8 } from "../../runtime/engine/ort-node/overflows-int8.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { elementCount, type Tensor, tensor } from "../graph/tensor.ts";
import { UNSIGNED_ZERO, unsigned } from "../graph/tensor-math.ts";

interface WeightPlace {
  readonly domain: string;
  readonly opType: string;
  /** Indices of the weight and of its zero point among the inputs. */
  readonly weight: number;
  readonly zero: number;
  /** Index of an input that has the shape of the zero point. Default: the zero point is a scalar. */
  readonly shapeOfZero?: number;
}

/** Operators that multiply uint8 by int8 in onnxruntime, some of them only after its graph optimizations. */
const places: readonly WeightPlace[] = [
  { domain: "", opType: "MatMulInteger", weight: 1, zero: 3 },
  { domain: "", opType: "QLinearMatMul", weight: 3, zero: 5 },
  { domain: "", opType: "DequantizeLinear", weight: 0, zero: 2, shapeOfZero: 1 },
  { domain: MICROSOFT, opType: "MatMulIntegerToFloat", weight: 1, zero: 5 },
  { domain: MICROSOFT, opType: "DynamicQuantizeMatMul", weight: 1, zero: 3 },
  { domain: MICROSOFT, opType: "QAttention", weight: 1, zero: 7 },
  { domain: MICROSOFT, opType: "QGemm", weight: 3, zero: 5 },
];

/**
 * Returns a graph that onnxruntime computes exactly on this CPU. If sums of int8 products overflow on this CPU, the result is a copy
 * with uint8 weights, in which 128 is added to each int8 weight and zero point.
 */
export async function exactGraph(graph: Graph): Promise<Graph> {
  const hasWeights = [...graph.nodes].some((node) => placeOf(node) || quantizesWeight(graph, node));
  return hasWeights && (await overflowsInt8()) ? withUnsignedWeights(copyGraph(graph)) : graph;
}

/** Replaces the int8 weights of a graph by uint8 weights, in place. */
export function withUnsignedWeights(graph: Graph): Graph {
  const made = new Map<Value, Value>();
  const unsignedOf = (value: Value): Value => {
    const [known, constant] = [made.get(value), constantOf(value)];
    if (known || !constant) return known ?? value;
    const result = graph.constant(`${value.name}/unsigned`, unsigned(constant));
    made.set(value, result);
    return result;
  };
  for (const node of [...graph.nodes]) {
    if (quantizesWeight(graph, node)) {
      for (const each of [node, ...node.output.users]) {
        const [x, scale, zero] = each.inputs;
        graph.setInputs(each, [x, scale, zero && unsignedOf(zero)]);
      }
    }
    const place = placeOf(node);
    if (!place) continue;
    const { weight, zero } = place;
    const inputs = Array.from({ length: Math.max(node.inputs.length, zero + 1) }, (_, i) => node.inputs[i]);
    const given = inputs[zero];
    inputs[weight] = unsignedOf(inputs[weight] as Value);
    inputs[zero] = given ? unsignedOf(given) : graph.constant(`${node.name}/zero_point`, zeroPoint(node, place));
    graph.setInputs(node, inputs);
  }
  return graph;
}

/** Returns the constant of a value, also if the value is an Identity or a Cast of the constant. float16 weights have a Cast. */
function constantOf(value: Value | undefined): Tensor | undefined {
  const from = value?.producer;
  return from?.is("Identity") || from?.is("Cast") ? constantOf(from.inputs[0]) : value?.constant;
}

/** Whether a node quantizes a constant weight to int8, as in models from quantization-aware training. */
function quantizesWeight(graph: Graph, node: Node): boolean {
  if (!node.is("QuantizeLinear")) return false;
  if ((constantOf(node.inputs[0])?.shape.length ?? 0) < 2) return false;
  const readers = [...node.output.users];
  return (
    readers.length > 0 &&
    !graph.isOutput(node.output) &&
    readers.every((reader) => reader.is("DequantizeLinear")) &&
    [node, ...readers].every(({ inputs: [, , zero] }) => constantOf(zero)?.dtype === "int8")
  );
}

/** Returns the place of a node's int8 weight; undefined if the weight or its zero point is not a constant. */
function placeOf(node: Node): WeightPlace | undefined {
  const place = places.find(({ domain, opType }) => node.is(opType, domain));
  if (!place) return undefined;
  const [weight, zero] = [node.inputs[place.weight], node.inputs[place.zero]];
  if (weight?.constant?.dtype !== "int8" || weight.constant.shape.length < 2) return undefined;
  const isKnown = zero ? zero.constant : place.shapeOfZero === undefined || node.inputs[place.shapeOfZero]?.constant;
  return isKnown ? place : undefined;
}

function zeroPoint(node: Node, { shapeOfZero = -1 }: WeightPlace) {
  const shape = node.inputs[shapeOfZero]?.constant?.shape ?? [];
  const [zero = 0] = UNSIGNED_ZERO.data;
  return tensor("uint8", shape, new Uint8Array(elementCount(shape)).fill(zero));
}
