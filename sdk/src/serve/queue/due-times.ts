/** Times at which something is due. */
export interface DueTimes {
  /** Adds a time, until the returned function is called. */
  add(dueAt: number): () => void;
  /** Whether one of the times is after `start` and before `end`. */
  hasBetween(start: number, end: number): boolean;
}

export function dueTimes(): DueTimes {
  const all = new Set<{ readonly dueAt: number }>();
  return {
    add(dueAt) {
      const time = { dueAt };
      all.add(time);
      return () => all.delete(time);
    },
    hasBetween: (start, end) => all.values().some(({ dueAt }) => dueAt > start && dueAt < end),
  };
}
