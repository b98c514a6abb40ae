import { type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import { packBits } from "../pack-bits.ts";
import { LEAST_STEP } from "../symmetric-step.ts";

/** How a table's numbers are kept. */
export interface TablePrecision {
  readonly bits: 8 | 4;
  /** Neighbouring numbers of a row that share a step; divides the row. */
  readonly block: number;
}

export interface QuantizedTable {
  /** uint8 [rows, width · bits / 8]; of two numbers in a byte, the first has the lower bits. */
  readonly values: Tensor;
  /** float32 [rows, width / block]: number ≈ step · (value − 2^(bits − 1)) */
  readonly steps: Tensor;
}

/**
 * Shares of the step that just reaches a block's number of the greatest size. With 16 values, a step that clips it, or
 * leaves room beyond it, is often better; with 256 none is.
 */
const shares = { 8: [1], 4: Array.from({ length: 13 }, (_, i) => 0.76 + 0.03 * i) };

/**
 * @param source float32 [rows, width]
 * @returns what com.microsoft.GatherBlockQuantized reads
 */
export function quantizeTable(source: Tensor, { bits, block }: TablePrecision): QuantizedTable {
  const [rows = 0, width = 0] = source.shape;
  const numbers = toFloat32(source);
  const middle = 2 ** (bits - 1);
  const steps = new Float32Array(numbers.length / block);
  for (let index = 0; index < steps.length; index++) {
    steps[index] = stepOf(numbers.subarray(index * block, (index + 1) * block), middle, shares[bits]);
  }
  const values = packBits(
    numbers.length,
    bits,
    (i) => levelOf(numbers[i] as number, steps[Math.floor(i / block)] as number, middle) + middle,
  );
  return {
    values: tensor("uint8", [rows, (width * bits) / 8], values),
    steps: tensor("float32", [rows, width / block], steps),
  };
}

/** Nearest of −middle…middle − 1. */
const levelOf = (number: number, step: number, middle: number): number =>
  Math.min(Math.max(Math.round(number / step), -middle), middle - 1);

/**
 * The step of the least squared error. It is negative where the number of the greatest size is positive, because there is
 * one value more below zero than above.
 */
function stepOf(numbers: Float32Array, middle: number, candidates: readonly number[]): number {
  let peak = 0;
  for (let i = 0; i < numbers.length; i++) {
    if (Math.abs(numbers[i] as number) > Math.abs(peak)) peak = numbers[i] as number;
  }
  let [best, least] = [LEAST_STEP, Number.POSITIVE_INFINITY];
  for (const share of candidates) {
    const wanted = (share * peak) / -middle;
    const step = Math.abs(wanted) < LEAST_STEP ? LEAST_STEP : Math.fround(wanted);
    let error = 0;
    for (let i = 0; i < numbers.length && error < least; i++) {
      const number = numbers[i] as number;
      error += (number - step * levelOf(number, step, middle)) ** 2;
    }
    if (error < least) [best, least] = [step, error];
  }
  return best;
}
