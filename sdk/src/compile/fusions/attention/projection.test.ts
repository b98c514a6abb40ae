import { expect, it } from "vitest";
import { LARGE_BYTES } from "../../files/stored-file.ts";
import { numbersOf, tensor } from "../../graph/tensor.ts";
import { gatherColumns } from "./projection.ts";

const range = (length: number, from = 0) => Array.from({ length }, (_, i) => from + i);

it.each([
  ["few columns", 3],
  ["enough columns for a lazy tensor", LARGE_BYTES / 16],
])("joins columns of constants in the given order: %s", (_, width) => {
  const rows = 4;
  const matrix = (first: number) =>
    tensor("float32", [rows, width], Float32Array.from(range(rows * width, first * rows * width)));
  const columns = [...range(width - 1, 1), 0];
  const all = gatherColumns([
    { from: matrix(0), columns },
    { from: matrix(1), columns: [1] },
  ]);
  expect(all.shape).toEqual([rows, width + 1]);
  const wanted = range(rows).flatMap((row) => [
    ...columns.map((column) => row * width + column),
    (rows + row) * width + 1,
  ]);
  expect(numbersOf(all)).toEqual(wanted.map(Math.fround));
});
