/** Symmetric int8 does not use −128, so that w and −w are equally exact. */
const MAX_INT8 = 127;

/** The smallest normal float32. A smaller scale loses so many digits that x / scale could leave the integers' range. */
export const MIN_SCALE = 2 ** -126;

/**
 * Returns the scale, rounded to float32 as it is stored, that maps numbers of at most `peak` to −127…127. It is never 0,
 * even if all numbers are, so that they can be divided by it.
 */
export const symmetricScale = (peak: number): number => Math.fround(Math.max(peak / MAX_INT8, MIN_SCALE));
