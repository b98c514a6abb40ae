/** Symmetric 8 bits leave −128 unused, so that w and −w are equally exact. */
const LARGEST = 127;

/** The smallest normal float32. Steps below it are rounded so coarsely that w / step could leave its levels. */
export const LEAST_STEP = 2 ** -126;

/**
 * The step, as the float32 that is stored, in which numbers of at most `peak` become −127…127. Zeros are exact with any
 * step; theirs is not 0, so that they can be divided by it.
 */
export const symmetricStep = (peak: number): number => Math.fround(Math.max(peak / LARGEST, LEAST_STEP));
