import { type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import { MIN_SCALE, roundQuotient } from "../scales.ts";

/** Format of a quantized embedding table. */
export interface TablePrecision {
  readonly bits: 8 | 4;
  /** Block size: neighbouring numbers of a row that share a scale. It divides the row's width. */
  readonly block: number;
}

interface QuantizedTable {
  /** uint8 [rows, width · bits / 8], packed by `packBits`. */
  readonly values: Tensor;
  /** float32 [rows, width / block]: number ≈ scale · (value − 2^(bits − 1)) */
  readonly scales: Tensor;
}

/**
 * Scales to try, relative to the scale that maps a block's peak to the smallest integer. With 4 bits, a smaller scale
 * (which clips the peak) or a larger scale often has a smaller error. With 8 bits, neither is better.
 */
const sharesToTry = { 8: [1], 4: Array.from({ length: 13 }, (_, i) => 0.76 + 0.03 * i) };

/**
 * Quantizes a table for com.microsoft.GatherBlockQuantized.
 *
 * @param source float32 [rows, width]
 */
export function quantizeTable(source: Tensor, { bits, block }: TablePrecision): QuantizedTable {
  const [rows = 0, width = 0] = source.shape;
  const numbers = toFloat32(source);
  const middle = 2 ** (bits - 1);
  const scales = new Float32Array(numbers.length / block);
  for (let index = 0; index < scales.length; index++) {
    scales[index] = minErrorScale(numbers.subarray(index * block, (index + 1) * block), middle, sharesToTry[bits]);
  }
  const values = packBits(
    numbers.length,
    bits,
    (i) => rounded(numbers[i] as number, scales[Math.floor(i / block)] as number, middle) + middle,
  );
  return {
    values: tensor("uint8", [rows, (width * bits) / 8], values),
    scales: tensor("float32", [rows, width / block], scales),
  };
}

/** Rounds number / scale to the nearest integer in −middle…middle − 1. */
const rounded = (number: number, scale: number, middle: number): number =>
  Math.min(Math.max(roundQuotient(number / scale), -middle), middle - 1);

/**
 * Returns the scale with the smallest squared error. The scale is negative if the peak is positive, so that the peak
 * always maps to a negative integer: there is one more integer below zero than above it.
 */
function minErrorScale(numbers: Float32Array, middle: number, shares: readonly number[]): number {
  let peak = 0;
  for (let i = 0; i < numbers.length; i++) {
    if (Math.abs(numbers[i] as number) > Math.abs(peak)) peak = numbers[i] as number;
  }
  const scaleOf = (share: number) => {
    const wanted = (share * peak) / -middle;
    return Math.abs(wanted) < MIN_SCALE ? MIN_SCALE : Math.fround(wanted);
  };
  const [first = 1, ...others] = shares;
  if (others.length === 0) return scaleOf(first);
  let [best, minError] = [MIN_SCALE, Number.POSITIVE_INFINITY];
  for (const share of shares) {
    const scale = scaleOf(share);
    let error = 0;
    for (let i = 0; i < numbers.length && error < minError; i++) {
      const number = numbers[i] as number;
      error += (number - scale * rounded(number, scale, middle)) ** 2;
    }
    if (error < minError) [best, minError] = [scale, error];
  }
  return best;
}

/** Packs unsigned integers of 8 or 4 bits into bytes. The first of two 4-bit integers is the lower half of a byte. */
export function packBits(count: number, bits: 8 | 4, valueAt: (index: number) => number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil((count * bits) / 8));
  if (bits === 8) {
    for (let i = 0; i < count; i++) bytes[i] = valueAt(i);
    return bytes;
  }
  for (let i = 0; i < count; i++) {
    const at = Math.floor((i * bits) / 8);
    bytes[at] = (bytes[at] as number) | (valueAt(i) << ((i * bits) % 8));
  }
  return bytes;
}
