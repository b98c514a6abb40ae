import { fround, nearest } from "./float32.ts";

/** Least and greatest number that an operand may have: what the matrix instruction takes. */
export interface Range {
  readonly least: number;
  readonly greatest: number;
}

export const I8: Range = { least: -128, greatest: 127 };
export const U7: Range = { least: 0, greatest: 127 };

/** Rows of numbers as small whole ones: x[r, i] ≈ scale[r] · (values[r, i] − zero[r]). */
export interface QuantizedRows {
  /** [rows, width] */
  readonly values: Int8Array;
  /** [rows] */
  readonly scale: Float32Array;
  readonly zero: Int32Array;
  /** Σ values of each row, which the product needs. */
  readonly sum: Int32Array;
}

/** A row of zeros has no range; any positive scale leaves it zero. */
export const LEAST_EXTENT = 2 ** -100;

/**
 * Asymmetric, one scale a row. Zero is always in the range, so that its image is in it too.
 *
 * @param x [rows, width]
 */
export function quantizeRows(x: Float32Array, width: number, { least, greatest }: Range): QuantizedRows {
  const rows = x.length / width;
  const values = new Int8Array(x.length);
  const [scale, zero, sum] = [new Float32Array(rows), new Int32Array(rows), new Int32Array(rows)];
  for (let row = 0; row < rows; row++) {
    const end = (row + 1) * width;
    let [low, high] = [0, 0];
    for (let i = row * width; i < end; i++) {
      low = Math.min(low, x[i] as number);
      high = Math.max(high, x[i] as number);
    }
    const extent = Math.max(fround(high - low), LEAST_EXTENT);
    const inverse = fround((greatest - least) / extent);
    const shift = nearest(fround(least - fround(low * inverse)));
    let total = 0;
    for (let i = row * width; i < end; i++) {
      const value = clamp(nearest(fround((x[i] as number) * inverse)) + shift, least, greatest);
      values[i] = value;
      total += value;
    }
    scale[row] = extent / (greatest - least);
    zero[row] = shift;
    sum[row] = total;
  }
  return { values, scale, zero, sum };
}

/**
 * Symmetric, −127…127, one scale a row: x[r, i] ≈ scale[r] · values[r, i].
 *
 * @param x [rows, width]
 */
export function quantizeRowsSymmetric(x: Float32Array, width: number): Pick<QuantizedRows, "values" | "scale" | "sum"> {
  const rows = x.length / width;
  const values = new Int8Array(x.length);
  const [scale, sum] = [new Float32Array(rows), new Int32Array(rows)];
  for (let row = 0; row < rows; row++) {
    let peak = LEAST_EXTENT;
    for (let i = row * width; i < (row + 1) * width; i++) peak = Math.max(peak, Math.abs(x[i] as number));
    const inverse = fround(I8.greatest / peak);
    for (let i = row * width; i < (row + 1) * width; i++) {
      const value = clamp(nearest(fround((x[i] as number) * inverse)), -I8.greatest, I8.greatest);
      values[i] = value;
      sum[row] = (sum[row] as number) + value;
    }
    scale[row] = peak / I8.greatest;
  }
  return { values, scale, sum };
}

const clamp = (x: number, least: number, greatest: number): number => Math.min(Math.max(x, least), greatest);
