/**
 * Computes eˣ / Σ eˣ in double precision. Subtracts the largest number from all first, so that eˣ cannot overflow.
 *
 * @param logits [n]
 * @returns [n], with the sum 1
 */
export function softmax(logits: ArrayLike<number>): Float64Array<ArrayBuffer> {
  const scores = Float64Array.from(logits);
  const largest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let sum = 0;
  for (let i = 0; i < scores.length; i++) {
    const power = Math.exp((scores[i] as number) - largest);
    scores[i] = power;
    sum += power;
  }
  return scores.map((power) => power / sum);
}

/**
 * Finds the items with the highest scores, best first. Of equal scores, the earlier item comes first. Keeps at most
 * 2 · count items in memory.
 *
 * @param count maximum number of items
 */
export function bestOf<Item>(items: Iterable<Item>, scoreOf: (item: Item) => number, count: number): Item[] {
  if (count < 1) return [];
  // Array.sort keeps the order of equal items.
  const worse = (a: Item, b: Item) => scoreOf(b) - scoreOf(a);
  const best: Item[] = [];
  let threshold = Number.NEGATIVE_INFINITY;
  for (const item of items) {
    if (best.length >= count && !(scoreOf(item) > threshold)) continue;
    best.push(item);
    if (best.length < 2 * count) continue;
    best.sort(worse).length = count;
    threshold = scoreOf(best[count - 1] as Item);
  }
  return best.sort(worse).slice(0, count);
}
