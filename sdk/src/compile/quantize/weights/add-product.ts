import base64 from "#embedded/add-product";

/** The row and column counts that `addProduct` receives must be multiples of `LANES`. */
const LANES = 8;

type Matrix = Float64Array<ArrayBuffer>;

interface Kernels {
  readonly addProduct: (sums: number, a: number, b: number, rows: number, columns: number, stride: number) => void;
}

const memory = new WebAssembly.Memory({ initial: 0 });
const kernels = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(base64, "base64")), { env: { memory } })
  .exports as unknown as Kernels;

/** Rounds a number of rows or columns up to the next multiple of `LANES`, for `addProduct`. */
export const padded = (count: number): number => Math.ceil(count / LANES) * LANES;

/**
 * Returns float64 arrays of zeros that `addProduct` can use. All calls share one WebAssembly memory, so each call makes
 * the arrays of the previous call invalid.
 */
export function float64Arrays<const Lengths extends readonly number[]>(
  ...lengths: Lengths
): { [Index in keyof Lengths]: Matrix } {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const missing = 8 * total - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
  let at = 0;
  return lengths.map((length) => {
    const array = new Float64Array(memory.buffer, 8 * at, length).fill(0);
    at += length;
    return array;
  }) as { [Index in keyof Lengths]: Matrix };
}
const PAGE_BYTES = 1 << 16;

/**
 * Adds a · b to `sums`. Each sum adds its products in the order of the inner dimension, so results have the same bits
 * on every machine. All arrays must come from the same call of `float64Arrays`.
 *
 * @param sums [rows, columns], a part of a matrix with `stride` columns
 * @param a [rows, DEPTH]
 * @param b [DEPTH, columns], a part of a matrix with `stride` columns
 * @param size `rows` and `columns` as `padded` returns them
 */
export function addProduct(
  sums: Matrix,
  a: Matrix,
  b: Matrix,
  { rows, columns, stride }: { readonly rows: number; readonly columns: number; readonly stride: number },
): void {
  kernels.addProduct(sums.byteOffset, a.byteOffset, b.byteOffset, rows, columns, 8 * stride);
}
