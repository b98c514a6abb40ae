import type { Dim } from "../graph/dim.ts";
import { type DataType, elementCount, type Tensor, tensorFromNumbers } from "../graph/tensor.ts";

/**
 * Converts sizes to an int64, int32 or boolean tensor. Returns undefined for other types, for symbolic sizes, for sizes
 * beyond 2⁵³, and if the number of sizes does not fit the shape.
 */
export function dimsTensor(
  dtype: DataType | undefined,
  shape: readonly number[],
  sizes: readonly Dim[],
): Tensor | undefined {
  const exact = sizes.filter((size): size is number => Number.isSafeInteger(size));
  if (exact.length < sizes.length || exact.length !== elementCount(shape)) return undefined;
  return dtype === "int64" || dtype === "int32" || dtype === "bool"
    ? tensorFromNumbers(dtype, shape, exact)
    : undefined;
}
