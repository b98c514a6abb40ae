import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";

/** Returns the mean cosine of rows with the expected ones. */
export const meanCosine = (found: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]): number =>
  found.length !== expected.length
    ? Number.NaN
    : found.reduce(
        (sum, row, i) => sum + cosine(Float32Array.from(row), Float32Array.from(expected[i] as ArrayLike<number>)),
        0,
      ) / expected.length;

/** Splits numbers into rows. */
export const rowsOf = (numbers: ArrayLike<number>, width: number): number[][] =>
  Array.from({ length: numbers.length / width }, (_, i) => Array.from(numbers).slice(i * width, (i + 1) * width));
