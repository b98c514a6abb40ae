import type { Node, Value } from "../../graph/node.ts";
import { elementCount } from "../../graph/tensor.ts";
import { normalizeAxis } from "../../shapes/shape-rule.ts";

/** An 8-bit tensor: number = scale · (data − zero). */
export interface QuantizedTensor {
  /** int8 or uint8 */
  readonly data: Value;
  /** float32, with shape [] or [1]. A weight may have [columns] instead, one scale for each column. */
  readonly scale: Value;
  /** Zero point, with the data's type and the scale's shape; undefined for 0. */
  readonly zero: Value | undefined;
}

/** Returns the quantized form of an activation; undefined unless a DequantizeLinear with a single scale computes it. */
export function activationOf({ producer }: Value): QuantizedTensor | undefined {
  const found = producer && eightBits(producer);
  return found && hasOneElement(found.scale) ? found : undefined;
}

/**
 * Returns the quantized form of a constant weight matrix [inputs, outputs]. Returns undefined unless a DequantizeLinear
 * computes it, with one scale per tensor or per output.
 *
 * @param transposed whether the constant is [outputs, inputs]
 */
export function weightOf({ producer }: Value, transposed = false): QuantizedTensor | undefined {
  const found = producer && eightBits(producer);
  if (found?.data.constant?.shape.length !== 2 || !found.scale.constant) return undefined;
  const axis = normalizeAxis(producer?.int("axis") ?? 1, 2);
  return hasOneElement(found.scale) || axis === (transposed ? 0 : 1) ? found : undefined;
}

/** Returns a zero point; undefined if it is 0 everywhere, because operators are faster without a zero point. */
export const zeroPoint = (value: Value | undefined): Value | undefined =>
  value?.constant?.data.every((byte) => byte === 0) ? undefined : value;

/** Whether a value is a scalar or a vector with one element. */
export const hasOneElement = ({ shape }: Value): boolean =>
  shape !== undefined && shape.length <= 1 && shape.every((dim) => dim === 1);

export const isEightBit = ({ dtype }: Value): boolean => dtype === "int8" || dtype === "uint8";

function eightBits(node: Node): QuantizedTensor | undefined {
  const [data, scale, zero] = node.inputs;
  if (!node.is("DequantizeLinear") || (node.int("block_size") ?? 0) !== 0 || !data || !scale) return undefined;
  if (!isEightBit(data) || scale.dtype !== "float32" || (zero && !isSameSize(zero, scale))) return undefined;
  return { data, scale, zero: zeroPoint(zero) };
}

const isSameSize = (a: Value, b: Value) =>
  a.constant && b.constant
    ? elementCount(a.constant.shape) === elementCount(b.constant.shape)
    : hasOneElement(a) && hasOneElement(b);
