import { fromHalfBits, toHalfBits } from "../../graph/float16.ts";
import type { Node } from "../../graph/node.ts";
import { elementCount, lazyTensor, reading, type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { HalfOperator } from "./half-operators.ts";

/**
 * Maximum rounding error of a channel, relative to the channel's largest value. It equals the error of bfloat16 (8
 * significant bits), which networks tolerate. float16 has 11 significant bits, but fewer for numbers below 6.1e-5.
 */
const MAX_ERROR = 2 ** -8;

/**
 * Minimum for a bias that is added to attention scores. It is about half of float16's minimum, −65504, so that the sum
 * of a bias and a score, or of two biases, stays finite. With float16's own minimum, −65504 − 16 would be −∞
 * (https://github.com/huggingface/transformers/pull/17306), and the softmax of a row of −∞ is NaN.
 */
export const MIN_BIAS = -(2 ** 15);

/** Converts a float32 tensor to float16. The conversion runs only when the result is read. */
export const toHalf = (value: Tensor): Tensor =>
  lazyTensor("float16", value.shape, () => {
    const halves = reading(value, (read) => toHalfBits(toFloat32(read)));
    return tensor("float16", value.shape, halves).data;
  });

/** Converts a bias of attention scores to float16. Values below `MIN_BIAS` become `MIN_BIAS`. */
export const biasToHalf = (value: Tensor): Tensor =>
  tensor("float16", value.shape, toHalfBits(toFloat32(value).map((x) => Math.max(x, MIN_BIAS))));

/**
 * Returns a function that checks whether all float32 constants of a node survive float16 (see `survives`). Attention
 * biases always survive.
 */
export function constantsSurvive(): (node: Node, operator: HalfOperator) => boolean {
  const known = new Map<Tensor, Map<number | undefined, boolean>>();
  const survivesOnce = (value: Tensor, axis: number | undefined): boolean => {
    const results = known.get(value) ?? new Map<number | undefined, boolean>();
    const result = results.get(axis) ?? reading(value, (read) => survives(read, axis));
    known.set(value, results.set(axis, result));
    return result;
  };
  return (node, { bias }) =>
    node.inputs.every((input, i) => {
      const value = input?.constant;
      if (value?.dtype !== "float32" || i === bias) return true;
      return survivesOnce(value, channelAxis(node, value.shape.length));
    });
}

/** Returns the axis of a weight's output channels; undefined for vectors, which count as one channel. */
function channelAxis(node: Node, rank: number): number | undefined {
  if (rank < 2) return undefined;
  return node.is("Conv") || node.int("transB") === 1 ? 0 : rank - 1;
}

/**
 * Whether a float32 tensor survives the conversion to float16: all numbers are finite before and after the conversion,
 * and no channel's rounding error exceeds `MAX_ERROR`.
 *
 * @param axis axis of the channels; undefined when the tensor is one channel
 */
export function survives(value: Tensor, axis: number | undefined): boolean {
  const exact = toFloat32(value);
  const rounded = fromHalfBits(toHalfBits(exact));
  const channels = axis === undefined ? 1 : (value.shape[axis] as number);
  const stride = axis === undefined ? 1 : elementCount(value.shape.slice(axis + 1));
  const [largest, errors] = [new Float64Array(channels), new Float64Array(channels)];
  for (let i = 0; i < exact.length; i++) {
    const channel = Math.floor(i / stride) % channels;
    const x = exact[i] as number;
    const error = Math.abs(x - (rounded[i] as number));
    if (!Number.isFinite(error)) return false;
    if (Math.abs(x) > (largest[channel] as number)) largest[channel] = Math.abs(x);
    if (error > (errors[channel] as number)) errors[channel] = error;
  }
  return errors.every((error, channel) => error <= MAX_ERROR * (largest[channel] as number));
}
