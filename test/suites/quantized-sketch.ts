import type { Value } from "../../sdk/src/build/graph/node.ts";
import { numbersOf, type Tensor, tensor } from "../../sdk/src/build/graph/tensor.ts";
import type { Sketch } from "./sketch.ts";

export interface Grid {
  readonly dtype: "int8" | "uint8";
  /** One step, or one a channel of the axis. */
  readonly scale: number | readonly number[];
  /** Likewise; left out of the graph where undefined, which is 0. */
  readonly zero?: number | readonly number[] | undefined;
  readonly axis?: number;
}

export const bytes = (dtype: Grid["dtype"], shape: readonly number[], values: readonly number[]): Tensor =>
  tensor(dtype, shape, dtype === "int8" ? Int8Array.from(values) : Uint8Array.from(values));

/** A value in 8 bits and back. */
export function quantized(s: Sketch, x: Value, grid: Grid): Value {
  const settings = grid.axis === undefined ? {} : { axis: grid.axis };
  const steps = stepsOf(s, grid);
  return s.op("DequantizeLinear", [s.op("QuantizeLinear", [x, ...steps], settings), ...steps], settings);
}

/** A constant matrix of random bytes, as the numbers they stand for. */
export function integerWeight(s: Sketch, shape: readonly number[], grid: Grid): Value {
  const settings = grid.axis === undefined ? {} : { axis: grid.axis };
  return s.op("DequantizeLinear", [s.constant(randomBytes(s, grid.dtype, shape)), ...stepsOf(s, grid)], settings);
}

/** All bytes of a type, −128 but never chosen. */
export function randomBytes(s: Sketch, dtype: Grid["dtype"], shape: readonly number[]): Tensor {
  const numbers = numbersOf(s.random(shape).constant as Tensor);
  return bytes(
    dtype,
    shape,
    numbers.map((number) => Math.round(254 * number) + (dtype === "int8" ? 0 : 127)),
  );
}

function stepsOf(s: Sketch, { dtype, scale, zero }: Grid): Value[] {
  const scales = typeof scale === "number" ? s.floats([], [scale]) : s.floats([scale.length], scale);
  if (zero === undefined) return [scales];
  const shape = typeof zero === "number" ? [] : [zero.length];
  return [scales, s.constant(bytes(dtype, shape, [zero].flat() as number[]))];
}

/** Of the weights of `product`. */
export const [IN, OUT] = [8, 6];
// Steps without a common measure: no sum of products lies halfway between two steps of a result.
export const signed: Grid = { dtype: "int8", scale: 0.0197, zero: 3 };
export const unsigned: Grid = { dtype: "uint8", scale: 0.0197, zero: 120 };
export const small: Grid = { dtype: "int8", scale: 0.01013, zero: 0 };
export const columns = Array.from({ length: OUT }, (_, i) => 0.00317 * (i + 1));

export const input = (s: Sketch): Value => s.input("x", ["batch", "sequence", IN]);

/** Of a quantized input and a quantized weight. */
export const product = (s: Sketch, x: Grid = signed, weight: Grid = small): Value =>
  s.op("MatMul", [quantized(s, input(s), x), integerWeight(s, [IN, OUT], weight)]);
