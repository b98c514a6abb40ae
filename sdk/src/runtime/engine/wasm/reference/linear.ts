import { fround } from "./float32.ts";
import type { Bytes, IntegerProduct } from "./integer-product.ts";
import { quantizeRows, type Range } from "./quantize-rows.ts";

/** A linear map's weight in small whole numbers: weight[o, i] ≈ scale[o] · (values[o, i] − zero[o]). */
export interface QuantizedWeight {
  /** [out, in] */
  readonly values: Bytes;
  /** [out] */
  readonly scale: Float32Array;
  readonly zero: Int32Array;
  /** Σ values of each row. */
  readonly sum: Int32Array;
  /** [out]; undefined for none. */
  readonly bias: Float32Array | undefined;
}

/**
 * x · weightᵀ + bias, with x quantized row by row:
 * Σ (a − zₐ)(w − z) = Σ a·w − zₐ Σ w − z (Σ a − k·zₐ), in integers, and once scaled at the end.
 *
 * @param x [rows, in]
 * @returns [rows, out]
 */
export async function quantizedLinear(
  x: Float32Array,
  weight: QuantizedWeight,
  range: Range,
  product: IntegerProduct,
): Promise<Float32Array> {
  const outputs = weight.scale.length;
  const inputs = weight.values.length / outputs;
  const rows = quantizeRows(x, inputs, range);
  const products = await product(rows.values, weight.values, inputs);
  const result = new Float32Array(products.length);
  for (let index = 0; index < result.length; index++) {
    const [row, column] = [Math.floor(index / outputs), index % outputs];
    const zero = rows.zero[row] as number;
    const ofWeight = zero * (weight.sum[column] as number);
    const ofRow = (weight.zero[column] as number) * ((rows.sum[row] as number) - inputs * zero);
    const scale = fround((rows.scale[row] as number) * (weight.scale[column] as number));
    const scaled = fround(fround((products[index] as number) - ofWeight - ofRow) * scale);
    result[index] = weight.bias ? scaled + (weight.bias[column] as number) : scaled;
  }
  return result;
}
