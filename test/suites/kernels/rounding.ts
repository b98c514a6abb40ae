/** Half a unit in the last place of a float32, of its size. */
export const ROUNDING = 2 ** -24;

/** The least float32 above zero: smaller results are off by half of it. */
export const LEAST = 2 ** -149;
