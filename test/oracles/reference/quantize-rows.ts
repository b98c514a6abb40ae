import { MIN_EXTENT } from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { I8, type OperandRange } from "#sdk/runtime/engine/wasm/constants/operand-ranges.ts";
import { fround, nearest } from "./float32.ts";

/** Quantized rows: x[r, i] ≈ scales[r] · (values[r, i] − zeroPoints[r]). */
export interface QuantizedRows {
  /** [rows, width] */
  readonly values: Int8Array;
  /** [rows] */
  readonly scales: Float32Array;
  readonly zeroPoints: Int32Array;
  /** [rows]: Σ values of each row. */
  readonly sums: Int32Array;
}

/**
 * Quantizes rows with a scale and a zero point per row. A row's range always includes zero, so its zero point lies between
 * min and max.
 *
 * @param x [rows, width]
 */
export function quantizeRows(x: Float32Array, width: number, { min, max }: OperandRange): QuantizedRows {
  const rows = x.length / width;
  const values = new Int8Array(x.length);
  const [scales, zeroPoints, sums] = [new Float32Array(rows), new Int32Array(rows), new Int32Array(rows)];
  for (let row = 0; row < rows; row++) {
    const end = (row + 1) * width;
    let [low, high] = [0, 0];
    for (let i = row * width; i < end; i++) {
      low = Math.min(low, x[i] as number);
      high = Math.max(high, x[i] as number);
    }
    const extent = Math.max(fround(high - low), MIN_EXTENT);
    const inverse = fround((max - min) / extent);
    const shift = nearest(fround(min - fround(low * inverse)));
    let total = 0;
    for (let i = row * width; i < end; i++) {
      const value = clamp(nearest(fround((x[i] as number) * inverse)) + shift, min, max);
      values[i] = value;
      total += value;
    }
    scales[row] = extent / (max - min);
    zeroPoints[row] = shift;
    sums[row] = total;
  }
  return { values, scales, zeroPoints, sums };
}

/**
 * Quantizes rows to −127…127, with a scale per row: x[r, i] ≈ scales[r] · values[r, i].
 *
 * @param x [rows, width]
 */
export function quantizeRowsSymmetric(
  x: Float32Array,
  width: number,
): Pick<QuantizedRows, "values" | "scales" | "sums"> {
  const rows = x.length / width;
  const values = new Int8Array(x.length);
  const [scales, sums] = [new Float32Array(rows), new Int32Array(rows)];
  for (let row = 0; row < rows; row++) {
    let peak = MIN_EXTENT;
    for (let i = row * width; i < (row + 1) * width; i++) peak = Math.max(peak, Math.abs(x[i] as number));
    const inverse = fround(I8.max / peak);
    for (let i = row * width; i < (row + 1) * width; i++) {
      const value = clamp(nearest(fround((x[i] as number) * inverse)), -I8.max, I8.max);
      values[i] = value;
      sums[row] = (sums[row] as number) + value;
    }
    scales[row] = peak / I8.max;
  }
  return { values, scales, sums };
}

const clamp = (x: number, min: number, max: number): number => Math.min(Math.max(x, min), max);
