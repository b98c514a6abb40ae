/** Counts the users of items, and releases retired items after their last user. */
export interface ReleasedAfterUse<T> {
  isUsed(item: T): boolean;
  /** Runs `work` on `item`, which is not released before `work` ends. */
  using<R>(item: T, work: (item: T) => Promise<R>): Promise<R>;
  /** Releases `item` at once if nobody uses it, otherwise after its last user. */
  retire(item: T): Promise<void>;
  /** Resolves when the retired `item` has been released. */
  released(item: T): Promise<void>;
  /** Returns the items that are retired but still in use. */
  retiring(): readonly T[];
}

/** @param release frees an item. It is called once for every retired item. */
export function releasedAfterUse<T>(release: (item: T) => Promise<void>): ReleasedAfterUse<T> {
  const users = new Map<T, number>();
  const retired = new Set<T>();
  const releasing = new Set<T>();
  /** Promises that `released` waits for, by item. `released` makes them: in a Worker, a promise belongs to the request that makes it. */
  const waiting = new Map<T, PromiseWithResolvers<void>>();

  async function releaseIfIdle(item: T): Promise<void> {
    if (users.has(item) || !retired.delete(item)) return;
    releasing.add(item);
    await release(item).finally(() => {
      releasing.delete(item);
      waiting.get(item)?.resolve();
      waiting.delete(item);
    });
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
    async released(item) {
      if (!retired.has(item) && !releasing.has(item)) return;
      const released = waiting.get(item) ?? Promise.withResolvers();
      waiting.set(item, released);
      await released.promise;
    },
    retiring: () => [...retired],
  };
}
