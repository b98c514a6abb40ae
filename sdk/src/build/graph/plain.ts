import type { DataType, Tensor } from "./tensor.ts";

/** A node's constant parameter. The kinds are ONNX's, because 1 and 1.0 are different things in a model file. */
export type Attribute =
  | { readonly kind: "int"; readonly value: number }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "ints"; readonly value: readonly number[] };

export const int = (value: number): Attribute => ({ kind: "int", value });
export const float = (value: number): Attribute => ({ kind: "float", value });
export const ints = (...value: number[]): Attribute => ({ kind: "ints", value });

/** `""` is ONNX's standard domain, `com.microsoft` onnxruntime's fused and quantized operators. */
export type Domain = "" | "com.microsoft";

export interface Node {
  readonly name: string;
  readonly domain: Domain;
  readonly opType: string;
  /** Names of values; `""` for an optional input that is left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** A graph's input or output. A string dimension is symbolic. */
export interface ValueInfo {
  readonly name: string;
  readonly dtype: DataType;
  readonly shape: readonly (number | string)[];
}

/** A computation in single-assignment form, nodes in topological order. */
export interface Graph {
  readonly name: string;
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly initializers: ReadonlyMap<string, Tensor>;
  readonly nodes: readonly Node[];
}
