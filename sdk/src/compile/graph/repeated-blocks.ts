/** Items that follow each other `count` times. */
export interface RepeatedBlock<T> {
  /** The items of the first time. */
  readonly items: readonly T[];
  readonly count: number;
}

/**
 * Folds repetitions in a list: the layers of a model, or equal nodes that follow each other. Of all repetitions that
 * begin at an item, the one is folded that covers most items, and the one with the shortest block if several do.
 *
 * @param keyOf items with equal keys count as equal
 */
export function repeatedBlocks<T>(items: readonly T[], keyOf: (item: T) => string): RepeatedBlock<T>[] {
  const ids = new Map<string, number>();
  const keys = items.map((item) => {
    const key = keyOf(item);
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return id;
  });
  const blocks: RepeatedBlock<T>[] = [];
  let single: T[] = [];
  const endSingle = () => {
    if (single.length > 0) blocks.push({ items: single, count: 1 });
    single = [];
  };
  for (let at = 0; at < items.length; ) {
    const { size, count } = longestRepetition(keys, at);
    if (count === 1) {
      single.push(items[at++] as T);
      continue;
    }
    endSingle();
    blocks.push({ items: items.slice(at, at + size), count });
    at += size * count;
  }
  endSingle();
  return blocks;
}

function longestRepetition(keys: readonly number[], at: number): { size: number; count: number } {
  let best = { size: 1, count: 1 };
  for (let size = 1; at + 2 * size <= keys.length; size++) {
    let equal = 0;
    while (at + size + equal < keys.length && keys[at + equal] === keys[at + size + equal]) equal++;
    const count = 1 + Math.floor(equal / size);
    if (count > 1 && count * size > best.count * best.size) best = { size, count };
  }
  return best;
}
