import { elementSize, type Tensor } from "../graph/tensor.ts";

/** A matrix the other way round. */
export function transposed({ dtype, shape: [rows = 0, columns = 0], data }: Tensor): Tensor {
  const bytes = elementSize[dtype];
  const result = new Uint8Array(data.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const from = (row * columns + column) * bytes;
      const to = (column * rows + row) * bytes;
      for (let byte = 0; byte < bytes; byte++) result[to + byte] = data[from + byte] as number;
    }
  }
  return { dtype, shape: [columns, rows], data: result };
}
