/** Maximum of symmetric int8. −128 is not used, so that w and −w have the same rounding error. */
const MAX_INT8 = 127;

/** The smallest normal float32. Smaller scales have few digits, so x / scale could leave the integer range. */
export const MIN_SCALE = 2 ** -126;

/**
 * Returns the scale that maps −peak…peak to −127…127, rounded to float32, the type in which it is stored. The scale is
 * never 0, so that numbers can be divided by it.
 */
export const symmetricScale = (peak: number): number => Math.fround(Math.max(peak / MAX_INT8, MIN_SCALE));

/**
 * Rounds a quotient of two float32 numbers to the nearest integer, halves up. Math.round has the same results, but takes three times as
 * long in loops over millions of weights. The rounding error of the sum with 0.5 does not change the result: a quotient below 2²⁶ is
 * either exactly a half, or at least 2⁻²⁶ away from a half.
 */
export const roundQuotient = (quotient: number): number => Math.floor(quotient + 0.5);
