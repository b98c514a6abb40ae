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
