/**
 * Performs `work` for each item, in order, for `limit` items at a time at most. When one fails, no further one begins.
 *
 * @throws the first error of `work`
 */
export async function sideBySide<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries();
  let hasFailed = false;
  const one = async () => {
    for (const [index, item] of rest) {
      if (hasFailed) return;
      await work(item, index).catch((error) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, one));
}
