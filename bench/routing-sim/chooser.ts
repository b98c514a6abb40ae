/** Draws an index. */
export type Choose = (random: () => number) => number;

/**
 * Makes a function that draws indices with given weights in constant time: A. J. Walker, "An Efficient Method for
 * Generating Discrete Random Variables with General Distributions", 1977. Every index shares its slot with one other.
 */
export function chooser(weights: readonly number[]): Choose {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const own = Float64Array.from(weights, (weight) => (weight / total) * weights.length);
  const other = Int32Array.from(weights.keys());
  const small = [...own.keys()].filter((index) => (own[index] as number) < 1);
  const large = [...own.keys()].filter((index) => (own[index] as number) >= 1);
  while (small.length > 0 && large.length > 0) {
    const receiver = small.pop() as number;
    const giver = large.at(-1) as number;
    other[receiver] = giver;
    own[giver] = (own[giver] as number) - (1 - (own[receiver] as number));
    if ((own[giver] as number) < 1) small.push(large.pop() as number);
  }
  return (random) => {
    const slot = Math.floor(random() * own.length);
    return random() < (own[slot] as number) ? slot : (other[slot] as number);
  };
}
