/** Weight that earlier points keep with each new one: about the last 64 points count. */
const MEMORY = 63 / 64;

/** Points before the slope is known, and the least relative spread of their x: two groups of points can be noise. */
const [MIN_POINTS, MIN_SPREAD] = [16, 0.2];

/** A line through recent points. */
export interface TrendLine {
  /** Adds a point. Returns the slope of the line; undefined while the points are too few or too close to each other. */
  slopeWith(x: number, y: number): number | undefined;
}

/** Makes a line that fits recent points with the least squares. */
export function trendLine(): TrendLine {
  let [n, sumX, sumY, sumXX, sumXY] = [0, 0, 0, 0, 0];
  return {
    slopeWith(x, y) {
      n = MEMORY * n + 1;
      sumX = MEMORY * sumX + x;
      sumY = MEMORY * sumY + y;
      sumXX = MEMORY * sumXX + x * x;
      sumXY = MEMORY * sumXY + x * y;
      const [meanX, meanY] = [sumX / n, sumY / n];
      const variance = sumXX / n - meanX ** 2;
      if (n < MIN_POINTS || variance <= (MIN_SPREAD * meanX) ** 2) return undefined;
      return (sumXY / n - meanX * meanY) / variance;
    },
  };
}
