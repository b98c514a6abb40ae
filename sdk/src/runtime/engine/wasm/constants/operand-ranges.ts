/**
 * Range of the integers of an operand. The relaxed SIMD instruction for dot products needs one operand in the range I8
 * and the other one in the range U7.
 */
export interface OperandRange {
  readonly min: number;
  readonly max: number;
}

export const I8: OperandRange = { min: -128, max: 127 };
export const U7: OperandRange = { min: 0, max: 127 };
