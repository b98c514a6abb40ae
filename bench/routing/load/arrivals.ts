/**
 * Returns the arrival times of a Poisson process, in milliseconds, in order.
 *
 * @param perSecond mean number of arrivals
 * @param random returns numbers in [0, 1)
 */
export function poissonArrivals(perSecond: number, untilMs: number, random: () => number): number[] {
  const times: number[] = [];
  const next = (after: number) => after - (Math.log(1 - random()) * 1000) / perSecond;
  for (let at = next(0); at < untilMs; at = next(at)) times.push(at);
  return times;
}
