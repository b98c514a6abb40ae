import type fc from "fast-check";
import type { Kernels } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import type { Drawing } from "./drawing.ts";

export type OperandArray =
  | Float32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;

/** A pointer to an element of an array. */
export interface From {
  readonly array: OperandArray;
  readonly from: number;
}

/** Memory in which a kernel may write any bytes. */
export interface Scratch {
  scratchBytes(kernels: Kernels): number;
}

/** Contents of an array after a call. */
export interface Expected {
  readonly values: OperandArray;
  /** Tolerance per number. Default: every bit must be equal. */
  readonly within?: readonly number[];
}

/** One call of a kernel. */
export interface KernelCall {
  /**
   * Operands in the order of the kernel's parameters, or of the fields of its struct. Arrays are copied to memory
   * before the call.
   */
  readonly operands: readonly (number | OperandArray | From | Scratch)[];
  /** Computes the expected contents of the arrays that the kernel changes, with the reference kernels. */
  results(): Promise<ReadonlyMap<OperandArray, Expected>>;
}

/** Sizes of a text encoder, and the number of tokens of a text. */
export interface EncoderSizes {
  readonly tokens: number;
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly intermediate: number;
}

/**
 * A shape, and the number of calls with this shape in a forward pass. The number is 0 if only other model families use
 * the shape.
 */
export interface Pass<Shape> {
  readonly shape: Shape;
  readonly times: number;
}

/** A kernel, for tests and benchmarks. */
export interface KernelCase<Shape> {
  /** Random shapes for tests: small, and with irregular sizes. */
  readonly shapes: fc.Arbitrary<Shape>;
  call(shape: Shape, draw: Drawing): KernelCall;
  passes(encoder: EncoderSizes): readonly Pass<Shape>[];
  /** Unit of `work`: one multiply–add of integers, one multiply–add of floats, or one written number. */
  readonly unit: "integer MAC" | "float MAC" | "number";
  work(shape: Shape): number;
}
