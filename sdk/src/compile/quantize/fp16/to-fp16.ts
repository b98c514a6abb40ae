import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import { int, type Node, type Value } from "../../graph/node.ts";
import { float32Scalar, type Tensor } from "../../graph/tensor.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { biasToHalf, MIN_BIAS, toHalf } from "./half-constants.ts";
import { halfOperator } from "./half-operators.ts";
import { isFloat32, isHalf, isSize, nodesInHalf } from "./nodes-in-half.ts";

/**
 * Converts a graph to half precision for GPUs. Nodes that are fast and safe in float16 (`nodesInHalf`), and their
 * weights, become float16. All other nodes stay float32. Casts convert values between the two types. Inputs and outputs
 * keep their types. A completely fused graph needs only one cast, at its output.
 *
 * Sub-graphs (If, Loop, Scan) stay in float32. Activations above 65504 become infinite: use `overflowObserver` to find the
 * nodes where this happens, and exempt them.
 *
 * @param exempt names of nodes to keep in float32
 */
export function toFp16(fused: Graph, exempt: ReadonlySet<string> = new Set()): Graph {
  const graph = copyGraph(fused);
  inferShapes(graph);
  removeIdleCasts(graph);
  const halves = nodesInHalf(graph, exempt);
  const casts = castsFor(graph, halves);
  const single = graph.outputs.filter(({ value }) => isFloat32(value));
  for (const node of graph.sorted()) {
    if (node.is("Cast")) mergeCast(graph, node, halves, casts);
    else if (!isSize(node)) castInputs(graph, node, halves.has(node), casts);
  }
  for (const output of single) output.value = casts.toSingle(output.value);
  graph.prune();
  inferShapes(graph);
  // Restores the declared input shapes. Shape inference changes them when it finds that two input sizes are equal.
  for (const [i, { shape }] of fused.inputs.entries()) (graph.inputs[i] as Value).shape = shape;
  return graph;
}

/**
 * Removes casts from float32 to float32, which some exports contain. Otherwise they would become casts from float16.
 */
function removeIdleCasts(graph: Graph): void {
  for (const node of graph.nodes) {
    const [value] = node.inputs;
    if (node.is("Cast") && value && isFloat32(value) && isFloat32(node.output)) graph.replace(node.output, value);
  }
  graph.prune();
}

function castInputs(graph: Graph, node: Node, inHalf: boolean, casts: Casts): void {
  const bias = halfOperator(node)?.bias;
  const inputs = node.inputs.map((input, i) => {
    if (!input || !inHalf) return input && casts.toSingle(input);
    return i === bias ? casts.biasToHalf(input) : casts.toHalf(input);
  });
  graph.setInputs(node, inputs);
}

/** Merges the model's own casts with the added ones, so that nothing is cast twice or back and forth. */
function mergeCast(graph: Graph, node: Node, halves: ReadonlySet<Node>, casts: Casts): void {
  const [value] = node.inputs;
  if (!value) return;
  const isInHalf = value.dtype === "float16" || isHalf(value, halves);
  if (isFloat32(node.output) && isInHalf) casts.register(node.output, value);
  else if (node.output.dtype === "float16" && isFloat32(value)) {
    if (!isInHalf) casts.register(value, node.output);
    const half = casts.toHalf(value);
    if (half !== node.output) graph.replace(node.output, half);
  }
}

/** Adds casts between float16 and float32 nodes. Each value is cast, and each constant converted, only once. */
interface Casts {
  /** Returns the value in float16. */
  toHalf(value: Value): Value;
  /** Returns the value in float32. */
  toSingle(value: Value): Value;
  /** Returns a bias of attention scores in float16. Values below the range of float16 stay finite. */
  biasToHalf(value: Value): Value;
  /** Records that the graph already contains `value` in float16, as `half`. */
  register(value: Value, half: Value): void;
}

/** The first opset with LayerNormalization, whose inputs must all have the same type. */
const OPSET_OF_LAYER_NORMALIZATION = 17;

/** @param halves nodes that are computed in half precision */
function castsFor(graph: Graph, halves: ReadonlySet<Node>): Casts {
  const made = { half: new Map<Value, Value>(), single: new Map<Value, Value>(), bias: new Map<Value, Value>() };
  const once = (known: Map<Value, Value>, value: Value, make: () => Value): Value => {
    const result = known.get(value) ?? make();
    known.set(value, result);
    return result;
  };
  const cast = (value: Value, dtype: "float16" | "float32"): Value => {
    const attributes = { to: int(dataTypes[dtype]) };
    const { output } = graph.add("Cast", [value], { name: `${value.name}/${dtype}`, attributes });
    output.dtype = dtype;
    return output;
  };
  const constant = (value: Value, tensor: Tensor) => graph.constant(`${value.name}/float16`, tensor);
  const isReady = (value: Value) => !isFloat32(value) || isHalf(value, halves);
  // When onnxruntime's LayerNormFusion fuses a layer normalization, it drops a cast before it. The fused node then has
  // inputs of two types, and the model does not load. To prevent this, a Sum with a single input follows the cast.
  // See has_leading_cast in onnxruntime/core/optimizer/layer_norm_fusion.cc.
  const wouldLoseCast = (value: Value) =>
    (graph.opsets.get("") ?? 1) >= OPSET_OF_LAYER_NORMALIZATION &&
    [...value.users].some((user) => user.is("ReduceMean"));
  const widened = (value: Value): Value => {
    const wide = cast(value, "float32");
    return wouldLoseCast(value) ? graph.add("Sum", [wide], { name: `${value.name}/kept_cast` }).output : wide;
  };
  return {
    toHalf: (value) =>
      isReady(value)
        ? value
        : once(made.half, value, () =>
            value.constant ? constant(value, toHalf(value.constant)) : cast(value, "float16"),
          ),
    toSingle: (value) => (isHalf(value, halves) ? once(made.single, value, () => widened(value)) : value),
    biasToHalf: (value) =>
      isReady(value)
        ? value
        : once(made.bias, value, () => {
            if (value.constant) return constant(value, biasToHalf(value.constant));
            const min = graph.constant(`${value.name}/min`, float32Scalar(MIN_BIAS));
            return cast(graph.add("Max", [value, min], { name: `${value.name}/finite` }).output, "float16");
          }),
    register: (value, half) => once(made.half, value, () => half),
  };
}
