import * as arithmetic from "./arithmetic.ts";

/** The numbers above zero that codes of a 4-bit table stand for, ascending. The other eight are the same below zero. */
export const tableLevels: readonly number[] = [
  arithmetic.LEVEL_0,
  arithmetic.LEVEL_1,
  arithmetic.LEVEL_2,
  arithmetic.LEVEL_3,
  arithmetic.LEVEL_4,
  arithmetic.LEVEL_5,
  arithmetic.LEVEL_6,
  arithmetic.LEVEL_7,
];

/** Numbers of a row that share a multiplier. */
export const LEVEL_BLOCK = 16;
