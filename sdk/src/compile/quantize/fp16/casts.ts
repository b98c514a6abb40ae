import { int } from "../../graph/attribute.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { float32Scalar, type Tensor } from "../../graph/tensor.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { biasToHalf, MIN_BIAS, toHalf } from "./half-constants.ts";
import { isHalf, isSingle } from "./nodes-in-half.ts";

/** A graph's float32 values in the precision that a reader wants. Each cast and each constant is made once. */
export interface Casts {
  half(value: Value): Value;
  single(value: Value): Value;
  /** In half precision, for adding to scores: what is lower than any score is kept finite. */
  bias(value: Value): Value;
  /** Says that a value has a form in half precision already. */
  known(value: Value, half: Value): void;
}

/** From this version on, ONNX's LayerNormalization reads one type. */
const OPSET_OF_LAYER_NORMALIZATION = 17;

/** @param halves the nodes that are computed in half precision */
export function castsFor(graph: Graph, halves: ReadonlySet<Node>): Casts {
  const forms = { half: new Map<Value, Value>(), single: new Map<Value, Value>(), bias: new Map<Value, Value>() };
  const once = (form: Map<Value, Value>, value: Value, make: () => Value): Value => {
    const made = form.get(value) ?? make();
    form.set(value, made);
    return made;
  };
  const cast = (value: Value, dtype: "float16" | "float32"): Value => {
    const attributes = { to: int(dataTypes[dtype]) };
    const { output } = graph.add("Cast", [value], { name: `${value.name}/${dtype}`, attributes });
    output.dtype = dtype;
    return output;
  };
  const constant = (value: Value, tensor: Tensor) => graph.constant(`${value.name}/float16`, tensor);
  const isReady = (value: Value) => !isSingle(value) || isHalf(value, halves);
  // LayerNormFusion drops a cast before a layer normalization that is written out, and makes a node of two types, which does
  // not load. A Sum of one keeps them apart: onnxruntime/core/optimizer/layer_norm_fusion.cc, has_leading_cast.
  const isMisread = (value: Value) =>
    (graph.opsets.get("") ?? 1) >= OPSET_OF_LAYER_NORMALIZATION &&
    [...value.users].some((user) => user.is("ReduceMean"));
  const widened = (value: Value): Value => {
    const wide = cast(value, "float32");
    return isMisread(value) ? graph.add("Sum", [wide], { name: `${value.name}/apart` }).output : wide;
  };
  return {
    half: (value) =>
      isReady(value)
        ? value
        : once(forms.half, value, () =>
            value.constant ? constant(value, toHalf(value.constant)) : cast(value, "float16"),
          ),
    single: (value) => (isHalf(value, halves) ? once(forms.single, value, () => widened(value)) : value),
    bias: (value) =>
      isReady(value)
        ? value
        : once(forms.bias, value, () => {
            if (value.constant) return constant(value, biasToHalf(value.constant));
            const lowest = graph.constant(`${value.name}/lowest`, float32Scalar(MIN_BIAS));
            return cast(graph.add("Max", [value, lowest], { name: `${value.name}/finite` }).output, "float16");
          }),
    known: (value, half) => once(forms.half, value, () => half),
  };
}
