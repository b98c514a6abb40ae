import { int } from "../../graph/attribute.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { float32Scalar, type Tensor } from "../../graph/tensor.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { biasToHalf, MIN_BIAS, toHalf } from "./half-constants.ts";
import { isFloat32, isHalf } from "./nodes-in-half.ts";

/** Adds casts between float16 and float32 nodes. Each value is cast, and each constant converted, only once. */
export interface Casts {
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
export function castsFor(graph: Graph, halves: ReadonlySet<Node>): Casts {
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
