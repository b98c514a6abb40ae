import type { VectorHead } from "../../runtime/engine/engine.ts";
import { VECTOR_OUTPUT } from "../../runtime/engine/ort-run.ts";
import { MIN_NORM } from "../../runtime/engine/wasm/constants/arithmetic.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { type Attribute, int, ints, type Value } from "../graph/node.ts";
import { float32Scalar, int64s, type Tensor, tensor } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";

/** The first opset in which the axes of an operator are an input instead of an attribute. */
const AXES_AS_INPUT = { ReduceSum: 13, ReduceMax: 18, ReduceL2: 18 } as const;

/** Value that replaces hidden states of padding before a maximum: the lowest finite float32 number. */
const LOWEST = -3.4028234663852886e38;

/**
 * Returns a copy of a graph with one more output, `VECTOR_OUTPUT`: pooled and normalized hidden states, float32
 * [batch, width]. Padding does not count. With this output, only vectors leave a GPU, and no hidden states.
 *
 * @param graph its first output is hidden states, float32 [batch, sequence, width]. A graph without the input
 *   `attention_mask` stays as it is.
 */
export function withVectorOutput(graph: Graph, { pooling, normalize }: VectorHead): Graph {
  const copy = copyGraph(graph);
  const hiddenStates = copy.outputs[0]?.value;
  const mask = copy.inputs.find(({ name }) => name === "attention_mask");
  if (!hiddenStates || !mask) return graph;
  const w = writerFor(copy);
  const pooled = poolers[pooling](w, hiddenStates, mask);
  const value = normalize ? unit(w, pooled) : pooled;
  copy.outputs.push({ name: VECTOR_OUTPUT, value, declaration: undefined });
  return copy;
}

/** Adds nodes to a graph, with calls that read like formulas. */
interface Writer {
  op(opType: string, inputs: readonly Value[], attributes?: Record<string, Attribute>): Value;
  reshape(x: Value, ...shape: number[]): Value;
  /** Reduces an axis to one element. */
  reduce(opType: keyof typeof AXES_AS_INPUT, x: Value, axis: number): Value;
  constant(tensor: Tensor): Value;
}

function writerFor(graph: Graph): Writer {
  const op: Writer["op"] = (opType, inputs, attributes = {}) => {
    const name = `${VECTOR_OUTPUT}.${opType}`;
    return graph.add(opType, inputs, { name, attributes }).output;
  };
  const constant = (tensor: Tensor) => graph.constant(`${VECTOR_OUTPUT}.constant`, tensor);
  return {
    op,
    reshape: (x, ...shape) => op("Reshape", [x, constant(int64s(...shape))]),
    reduce: (opType, x, axis) =>
      (graph.opsets.get("") ?? 1) < AXES_AS_INPUT[opType]
        ? op(opType, [x], { axes: ints(axis), keepdims: int(1) })
        : op(opType, [x, constant(int64s(axis))], { keepdims: int(1) }),
    constant,
  };
}

/** Functions from hidden states [batch, sequence, width] and a mask [batch, sequence] to vectors [batch, width]. */
const poolers: Record<VectorHead["pooling"], (w: Writer, hiddenStates: Value, mask: Value) => Value> = {
  cls: (w, hiddenStates) =>
    w.op("Gather", [hiddenStates, w.constant(tensor("int64", [], BigInt64Array.of(0n)))], { axis: int(1) }),
  last(w, hiddenStates, mask) {
    const shown = maskRow(w, mask);
    const tokensToEnd = w.op("CumSum", [shown, w.constant(tensor("int64", [], BigInt64Array.of(2n)))], {
      reverse: int(1),
    });
    const isLast = w.op("Cast", [w.op("Equal", [tokensToEnd, w.constant(float32Scalar(1))])], toFloat32);
    return w.reshape(w.op("MatMul", [w.op("Mul", [isLast, shown]), hiddenStates]), 0, -1);
  },
  mean(w, hiddenStates, mask) {
    const shown = maskRow(w, mask);
    const sum = w.op("MatMul", [shown, hiddenStates]);
    return w.reshape(w.op("Div", [sum, w.reduce("ReduceSum", shown, 2)]), 0, -1);
  },
  max(w, hiddenStates, mask) {
    const shown = w.op("Cast", [w.reshape(mask, 0, -1, 1)], toBoolean);
    const candidates = w.op("Where", [shown, hiddenStates, w.constant(float32Scalar(LOWEST))]);
    return w.reshape(w.reduce("ReduceMax", candidates, 1), 0, -1);
  },
};

/** Reads a mask [batch, sequence] as float32 [batch, 1, sequence]. */
const maskRow = (w: Writer, mask: Value): Value => w.reshape(w.op("Cast", [mask], toFloat32), 0, 1, -1);

/** Divides vectors by their Euclidean norm: [batch, width] → [batch, width]. */
const unit = (w: Writer, vectors: Value): Value =>
  w.op("Div", [vectors, w.op("Max", [w.reduce("ReduceL2", vectors, 1), w.constant(float32Scalar(MIN_NORM))])]);

const toFloat32 = { to: int(dataTypes.float32) };
const toBoolean = { to: int(dataTypes.bool) };
