import { totalLength } from "../../artifact/total-length.ts";
import type { Value } from "./node.ts";
import {
  byteLength,
  elementCount,
  elementSize,
  lazyTensor,
  numbersOf,
  reading,
  type Tensor,
  tensor,
} from "./tensor.ts";

/** Maximum number of elements to compare. A larger constant is a weight, not one repeated number. */
const MAX_ELEMENTS = 4096;

/**
 * Returns the number that all elements of a constant share. Returns undefined if the elements differ or the value is
 * not a constant.
 */
export function uniformValue({ constant }: Value): number | undefined {
  if (!constant) return undefined;
  const count = elementCount(constant.shape);
  if (count === 0 || count > MAX_ELEMENTS) return undefined;
  const [first, ...rest] = numbersOf(constant);
  return rest.every((element) => element === first) ? first : undefined;
}

/**
 * Array type for each element size in bytes. The types are integers, because copying a NaN as a float may change its
 * bits.
 */
const arrays = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array };

/** Transposes a matrix [rows, columns]. */
export function transposedMatrix(matrix: Tensor): Tensor {
  const { dtype, shape } = matrix;
  const [rows = 0, columns = 0] = shape;
  const elements = arrays[elementSize[dtype]];
  const transpose = ({ data }: Tensor) => {
    const aligned = data.byteOffset % elements.BYTES_PER_ELEMENT === 0 ? data : new Uint8Array(data);
    const from = new elements(aligned.buffer, aligned.byteOffset, rows * columns);
    const to = new elements(rows * columns);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        to[column * rows + row] = from[row * columns + column] as number;
      }
    }
    return new Uint8Array(to.buffer, 0, byteLength(matrix));
  };
  return lazyTensor(dtype, [columns, rows], () => reading(matrix, transpose));
}

/** Difference between a uint8 number and the int8 number from which `unsigned` makes it. */
const OFFSET = 128;

/** Adds 128 to every number of an int8 tensor, which makes it uint8. In bytes, this flips the highest bit. */
export const unsigned = ({ shape, data }: Tensor): Tensor =>
  tensor(
    "uint8",
    shape,
    data.map((byte) => byte ^ OFFSET),
  );

/** The uint8 zero point that corresponds to the int8 zero point 0. */
export const UNSIGNED_ZERO: Tensor = tensor("uint8", [], Uint8Array.of(OFFSET));

/** Concatenates arrays of one type. */
export function concatenate<T extends Float32Array | Uint8Array>(
  type: new (length: number) => T,
  parts: readonly T[],
): T {
  const all = new type(totalLength(parts));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
