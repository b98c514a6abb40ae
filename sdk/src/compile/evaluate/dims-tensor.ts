import type { Dim } from "../graph/dim.ts";
import { type DataType, elementCount, type Tensor, tensor } from "../graph/tensor.ts";

/** Sizes as a model computes them; undefined unless all are numbers, and exact: 64-bit integers are rounded beyond 2⁵³. */
export function dimsTensor(
  dtype: DataType | undefined,
  shape: readonly number[],
  sizes: readonly Dim[],
): Tensor | undefined {
  const exact = sizes.filter((size): size is number => Number.isSafeInteger(size));
  if (exact.length < sizes.length || exact.length !== elementCount(shape)) return undefined;
  if (dtype === "int64") return tensor(dtype, shape, BigInt64Array.from(exact, BigInt));
  if (dtype === "int32") return tensor(dtype, shape, Int32Array.from(exact));
  if (dtype === "bool") return tensor(dtype, shape, Uint8Array.from(exact));
  return undefined;
}
