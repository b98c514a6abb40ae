const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

/**
 * Returns the smallest value that at least a share of the values does not exceed; NaN without values.
 *
 * @param share between 0 and 1
 */
export const quantile = (values: readonly number[], share: number): number =>
  sorted(values)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? Number.NaN;

/** Returns the geometric mean; NaN without values. */
export const geometricMean = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** Returns `part / whole`; NaN when `whole` is 0. */
export const shareOf = (part: number, whole: number): number => (whole === 0 ? Number.NaN : part / whole);
