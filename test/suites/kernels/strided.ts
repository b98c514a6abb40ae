/** Makes an array for results, filled with a number that no kernel computes. */
export const unwritten = (length: number): Float32Array<ArrayBuffer> => new Float32Array(length).fill(-98_765.4);

/** Copies `width` numbers of each row, starting at `column`. */
export const columnsOf = (matrix: Float32Array, stride: number, width: number, column = 0): Float32Array<ArrayBuffer> =>
  Float32Array.from(
    { length: (matrix.length / stride) * width },
    (_, at) => matrix[Math.floor(at / width) * stride + column + (at % width)] as number,
  );

/** Returns a copy of a matrix in which `values` [rows, width] replace the first `width` numbers of each row. */
export function withColumns(
  matrix: Float32Array<ArrayBuffer>,
  stride: number,
  width: number,
  values: Float32Array,
): Float32Array<ArrayBuffer> {
  const copy = matrix.slice();
  values.forEach((value, at) => {
    copy[Math.floor(at / width) * stride + (at % width)] = value;
  });
  return copy;
}
