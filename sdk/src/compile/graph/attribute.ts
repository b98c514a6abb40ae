import type { AttributeProto } from "../proto/onnx-messages.ts";
import type { Tensor } from "./tensor.ts";

/** A node's constant parameter. The kinds are ONNX's, because 1 and 1.0 are different things in a model file. */
export type Attribute =
  | { readonly kind: "int"; readonly value: number }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "ints"; readonly value: readonly number[] }
  | { readonly kind: "floats"; readonly value: readonly number[] }
  | { readonly kind: "tensor"; readonly value: Tensor }
  /** What no rewrite reads (sub-graphs, types, references to a function's parameters), as the file has it. */
  | { readonly kind: "other"; readonly value: AttributeProto };

export const int = (value: number): Attribute => ({ kind: "int", value });
export const float = (value: number): Attribute => ({ kind: "float", value });
export const ints = (...value: number[]): Attribute => ({ kind: "ints", value });
