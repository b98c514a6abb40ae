import { byteLength, elementSize, lazyTensor, reading, type Tensor } from "./tensor.ts";

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
