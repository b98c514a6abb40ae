/**
 * Performs `work` for each item, in order, for at most `limit` items at a time. After an error, no further item begins.
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
