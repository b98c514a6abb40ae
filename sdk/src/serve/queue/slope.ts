/**
 * Returns the slope of a line through points: the median of the slopes between all pairs. Up to 29 % of the points can be
 * wrong without any effect: H. Theil, "A rank-invariant method of linear and polynomial regression analysis", 1950; P. K.
 * Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", 1968. Undefined if most points are too close to
 * each other: then the slope would be noise.
 *
 * @param minSpread smallest distance of two points on the x axis, relative to the larger x, for their slope to count
 */
export function slopeOf(points: readonly (readonly [x: number, y: number])[], minSpread: number): number | undefined {
  const slopes = points.flatMap(([x, y], i) =>
    points
      .slice(0, i)
      .filter(([other]) => Math.abs(x - other) > minSpread * Math.max(x, other))
      .map(([otherX, otherY]) => (y - otherY) / (x - otherX)),
  );
  if (slopes.length < points.length) return undefined;
  return slopes.sort((a, b) => a - b)[slopes.length >> 1];
}
