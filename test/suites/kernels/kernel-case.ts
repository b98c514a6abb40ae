import type fc from "fast-check";
import type { Kernels } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import type { Drawing } from "./drawing.ts";

export type Numbers =
  | Float32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;

/** An array from one of its elements on. */
export interface From {
  readonly array: Numbers;
  readonly from: number;
}

/** Bytes that a kernel may leave anything in. */
export interface Scratch {
  scratchBytes(kernels: Kernels): number;
}

/** What an array holds after a call. */
export interface Expected {
  readonly values: Numbers;
  /** By how much each may be off; not by a bit where this is left out. */
  readonly within?: readonly number[];
}

/** One call of a kernel. */
export interface Call {
  /** In the kernel's order: arrays are in memory when it is called. */
  readonly operands: readonly (number | Numbers | From | Scratch)[];
  /** What the scalar reference leaves in arrays; all others stay as they are. */
  results(): Promise<ReadonlyMap<Numbers, Expected>>;
}

/** Sizes of a text encoder that takes so many tokens. */
export interface Encoder {
  readonly tokens: number;
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly intermediate: number;
}

/** How often a text's way through an encoder has calls of one shape; never, for shapes of other families. */
export interface Pass<Shape> {
  readonly shape: Shape;
  readonly times: number;
}

/** What tests and benchmarks need to know of a kernel. */
export interface KernelCase<Shape> {
  /** Small and odd ones. */
  readonly shapes: fc.Arbitrary<Shape>;
  call(shape: Shape, draw: Drawing): Call;
  passes(encoder: Encoder): readonly Pass<Shape>[];
  /** What `work` counts: multiply–adds of integers, of floats, or numbers that are written. */
  readonly unit: "integer MAC" | "float MAC" | "number";
  work(shape: Shape): number;
}
