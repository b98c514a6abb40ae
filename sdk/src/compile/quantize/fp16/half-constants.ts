import type { Node } from "../../graph/node.ts";
import { elementCount, lazyTensor, reading, type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { HalfOperator } from "./half-operators.ts";

/**
 * What rounding may change a channel by, as a part of its largest value: the eight bits of bfloat16, which networks bear.
 * Half precision has eleven down to 6.1e-5, and fewer below.
 */
const LARGEST_ERROR = 2 ** -8;

/**
 * The lowest that is added to scores: half of the range, so that a sum with a score, or of two masks, is finite too.
 * float16's lowest is not: −65504 − 16 is −∞ (https://github.com/huggingface/transformers/pull/17306), and a row of −∞ NaN.
 */
export const MIN_BIAS = -(2 ** 15);

/** A float32 tensor in half precision. */
export const toHalf = (value: Tensor): Tensor =>
  lazyTensor("float16", value.shape, () => {
    const halves = reading(value, (read) => new Float16Array(toFloat32(read)));
    return tensor("float16", value.shape, halves).data;
  });

/** NodeTensor that are added to scores, in half precision. */
export const biasToHalf = (value: Tensor): Tensor =>
  tensor(
    "float16",
    value.shape,
    Float16Array.from(toFloat32(value), (x) => Math.max(x, MIN_BIAS)),
  );

/** Says of nodes whether all of their float32 constants survive half precision; biases of scores always do. */
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

/** Where the channels of a node's weights lie: each is a number of its result. A vector is looked at as a whole. */
function channelAxis(node: Node, rank: number): number | undefined {
  if (rank < 2) return undefined;
  return node.is("Conv") || node.int("transB") === 1 ? 0 : rank - 1;
}

/**
 * Whether a float32 tensor is still itself in half precision: nothing becomes infinite or was, and no channel loses its
 * digits, let alone becomes zero.
 *
 * @param axis where channels lie; undefined where the tensor is one channel
 */
export function survives(value: Tensor, axis: number | undefined): boolean {
  const exact = toFloat32(value);
  const rounded = new Float16Array(exact);
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
  return errors.every((error, channel) => error <= LARGEST_ERROR * (largest[channel] as number));
}
