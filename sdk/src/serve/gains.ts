/** Weights of a new observation in the mean and in the mean deviation, as for TCP round trips (RFC 6298). */
export const MEAN_GAIN = 1 / 8;
export const DEVIATION_GAIN = 1 / 4;
