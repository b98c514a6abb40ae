/** Half a unit in the last place of a float32, relative to its value. */
export const ROUNDING = 2 ** -24;

/** The smallest float32 above zero. */
export const LEAST = 2 ** -149;
