/** What is to be released when nobody uses it any more. */
export interface ReleasedAfterUse<T> {
  isUsed(item: T): boolean;
  /** Keeps `item` from being released while `work` uses it. */
  using<R>(item: T, work: (item: T) => Promise<R>): Promise<R>;
  /** Releases `item`, after its last user if it has any. */
  retire(item: T): Promise<void>;
  /** What is retired and still in use. */
  retiring(): readonly T[];
}

/** @param release which is called once for everything that is retired */
export function releasedAfterUse<T>(release: (item: T) => Promise<void>): ReleasedAfterUse<T> {
  const users = new Map<T, number>();
  const retired = new Set<T>();

  async function releaseIfIdle(item: T): Promise<void> {
    if (!users.has(item) && retired.delete(item)) await release(item);
  }

  return {
    isUsed: (item) => users.has(item),
    async using(item, work) {
      users.set(item, (users.get(item) ?? 0) + 1);
      try {
        return await work(item);
      } finally {
        const left = (users.get(item) ?? 1) - 1;
        if (left > 0) users.set(item, left);
        else users.delete(item);
        await releaseIfIdle(item);
      }
    },
    async retire(item) {
      retired.add(item);
      await releaseIfIdle(item);
    },
    retiring: () => [...retired],
  };
}
