/** Maximum difference from an original number: `absolute + relative · |original|`. */
export interface Tolerance {
  readonly absolute: number;
  readonly relative: number;
}

export interface NumbersComparison {
  /** Largest absolute difference. A NaN in only one of the two vectors counts as an infinite difference. */
  readonly maxAbs: number;
  /** Largest ratio of a difference to its tolerance. Above 1, the difference exceeds the tolerance. */
  readonly ofTolerance: number;
  /** Cosine of the two vectors: NaN if one contains NaN, 1 if both are zero, 0 if only one is zero. */
  readonly cosine: number;
}

/** Tolerance of comparisons that use only the cosine. */
const NO_TOLERANCE: Tolerance = { absolute: 0, relative: 0 };

/** Result for vectors of different lengths. */
const INCOMPARABLE: NumbersComparison = {
  maxAbs: Number.POSITIVE_INFINITY,
  ofTolerance: Number.POSITIVE_INFINITY,
  cosine: Number.NaN,
};

/**
 * Compares a vector with the original vector. All comparisons of models use this function. Two zero vectors have a cosine of 1 here,
 * because the models agree. For the similarity of two texts, the runtime's `cosine` returns 0 instead.
 */
export function compareNumbers(
  original: ArrayLike<number>,
  found: ArrayLike<number>,
  { absolute, relative }: Tolerance = NO_TOLERANCE,
): NumbersComparison {
  if (original.length !== found.length) return INCOMPARABLE;
  let [maxAbs, ofTolerance, dot, squares, foundSquares] = [0, 0, 0, 0, 0];
  for (let i = 0; i < original.length; i++) {
    const [x, y] = [original[i] as number, found[i] as number];
    const distance = Object.is(x, y) ? 0 : Math.abs(x - y);
    const difference = Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance;
    maxAbs = Math.max(maxAbs, difference);
    // A difference of 0 or infinity is not divided, because a tolerance of 0, infinity or NaN would make the quotient NaN.
    const isDivided = difference > 0 && difference < Number.POSITIVE_INFINITY;
    const share = isDivided ? difference / (absolute + relative * Math.abs(x)) : difference;
    ofTolerance = Math.max(ofTolerance, share);
    dot += x * y;
    squares += x * x;
    foundSquares += y * y;
  }
  return { maxAbs, ofTolerance, cosine: cosineOf(dot, squares, foundSquares) };
}

function cosineOf(dot: number, squares: number, foundSquares: number): number {
  if (squares === 0 && foundSquares === 0) return 1;
  return squares === 0 || foundSquares === 0 ? 0 : dot / Math.sqrt(squares * foundSquares);
}

/** Sort key of an agreement: NaN is worse than any number. */
export const rank = (agreement: number): number => (Number.isNaN(agreement) ? Number.NEGATIVE_INFINITY : agreement);
