/** Half a unit in the last place of a float32, relative to its value. */
export const ROUNDING = 2 ** -24;

/** Smallest positive float32. */
export const DENORMAL = 2 ** -149;
