import type { AttributeProto } from "../proto/onnx-messages.ts";
import type { Tensor } from "./tensor.ts";

/**
 * A constant parameter of a node. It keeps the attribute types of ONNX, because a model file distinguishes the integer 1
 * from the float 1.0.
 */
export type Attribute =
  | { readonly kind: "int"; readonly value: number }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "ints"; readonly value: readonly number[] }
  | { readonly kind: "floats"; readonly value: readonly number[] }
  | { readonly kind: "tensor"; readonly value: Tensor }
  /**
   * An attribute that no rewrite reads: a sub-graph, a type or a reference to a function's parameter. It is written back
   * unchanged.
   */
  | { readonly kind: "other"; readonly value: AttributeProto };

export const int = (value: number): Attribute => ({ kind: "int", value });
export const float = (value: number): Attribute => ({ kind: "float", value });
export const ints = (...value: number[]): Attribute => ({ kind: "ints", value });
