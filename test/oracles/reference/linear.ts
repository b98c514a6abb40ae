import type { OperandRange } from "#sdk/runtime/engine/wasm/constants/operand-ranges.ts";
import { fround } from "./float32.ts";
import type { Bytes, IntegerProduct } from "./integer-product.ts";
import { quantizeRows } from "./quantize-rows.ts";

/** A linear layer's weight matrix in integers: weight[o, i] ≈ scales[o] · (values[o, i] − zeroPoints[o]). */
export interface IntegerWeight {
  /** [out, in] */
  readonly values: Bytes;
  /** [out] */
  readonly scales: Float32Array;
  readonly zeroPoints: Int32Array;
  /** [out]: Σ values of each output. */
  readonly sums: Int32Array;
  /** [out]; undefined for none. */
  readonly bias: Float32Array | undefined;
}

/**
 * Computes x · weightᵀ + bias with x quantized row by row. Sums are integers and are scaled once at the end. The
 * integer sum for one row and one output is
 *
 * Σ (a − zₐ)(w − z) = Σ a·w − zₐ Σ w − z (Σ a − k·zₐ)
 *
 * The row has k quantized numbers a and the zero point zₐ. The output has k weights w and the zero point z.
 *
 * @param x [rows, in]
 * @returns [rows, out]
 */
export async function quantizedLinear(
  x: Float32Array,
  weight: IntegerWeight,
  range: OperandRange,
  product: IntegerProduct,
): Promise<Float32Array> {
  const outputs = weight.scales.length;
  const inputs = weight.values.length / outputs;
  const rows = quantizeRows(x, inputs, range);
  const products = await product(rows.values, weight.values, inputs);
  const result = new Float32Array(products.length);
  for (let index = 0; index < result.length; index++) {
    const [row, column] = [Math.floor(index / outputs), index % outputs];
    const zero = rows.zeroPoints[row] as number;
    const ofWeight = zero * (weight.sums[column] as number);
    const ofRow = (weight.zeroPoints[column] as number) * ((rows.sums[row] as number) - inputs * zero);
    const scale = fround((rows.scales[row] as number) * (weight.scales[column] as number));
    const scaled = fround(fround((products[index] as number) - ofWeight - ofRow) * scale);
    result[index] = weight.bias ? scaled + (weight.bias[column] as number) : scaled;
  }
  return result;
}
