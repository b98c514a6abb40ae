/** Returns the sum of each row of a matrix [rows, width]. */
export function rowSums(values: Uint8Array, width: number, rows: number): Int32Array {
  const sums = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < width; i++) sums[row] = (sums[row] as number) + (values[row * width + i] as number);
  }
  return sums;
}
