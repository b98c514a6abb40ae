/** Share of the steady goodput at which a deployment counts as recovered. */
const RECOVERED = 0.95;

/** Points by which a share must turn back before the turn counts as a reversal. */
const TURN = 2;

/**
 * Returns the number of bins after which the goodput is at least 95 % of the steady goodput, and stays so until the last
 * bin. It is the number of bins if the deployment did not recover.
 */
export function binsToRecover(goodput: readonly number[], steady: number): number {
  return goodput.findLastIndex((share) => share < RECOVERED * steady) + 1;
}

/**
 * Counts reversals: how often a share changes its direction. A change counts when the share has moved away from its last
 * extreme by at least two points, so that chance is not counted.
 *
 * @param percent a share in every bin, in percent
 */
export function reversals(percent: readonly number[]): number {
  let count = 0;
  let direction = 0;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of percent) {
    low = Math.min(low, value);
    high = Math.max(high, value);
    const turned = direction <= 0 && value >= low + TURN ? 1 : direction >= 0 && value <= high - TURN ? -1 : 0;
    if (turned === 0) continue;
    if (direction !== 0) count++;
    direction = turned;
    low = value;
    high = value;
  }
  return count;
}
