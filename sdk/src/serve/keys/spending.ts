/** Amounts that a caller spends, by name: requests, texts or tokens. */
export type Amounts = Readonly<Record<string, number>>;

const MINUTE_MS = 60_000;

export interface Spending {
  /**
   * Returns the limit that is used up, and the milliseconds until it is not any more; undefined if a caller may go on.
   *
   * @param limits amounts per minute, by name; undefined ones do not limit
   * @param next amounts that the caller wants to spend now
   */
  over(
    limits: Readonly<Record<string, number | undefined>>,
    next: Amounts,
  ): { limit: string; waitMs: number } | undefined;
  /** Adds what was spent. It can exceed the limit: the tokens of a request are known when it has been answered. */
  add(limits: Readonly<Record<string, number | undefined>>, amounts: Amounts): void;
}

/** Counts what a caller spends. What was spent fades evenly: a limit of 60 a minute gives one back each second. */
export function spending(now: () => number = Date.now): Spending {
  const spent = new Map<string, { amount: number; at: number }>();
  const left = (limit: string, perMinute: number): number => {
    const { amount, at } = spent.get(limit) ?? { amount: 0, at: 0 };
    return Math.max(0, amount - ((now() - at) * perMinute) / MINUTE_MS);
  };
  return {
    over(limits, next) {
      for (const [limit, perMinute] of Object.entries(limits)) {
        if (perMinute === undefined) continue;
        const excess = left(limit, perMinute) + (next[limit] ?? 0) - perMinute;
        // Rounding errors of the time must not refuse what fits exactly.
        if (excess > 1e-6) return { limit, waitMs: (excess * MINUTE_MS) / perMinute };
      }
      return undefined;
    },
    add(limits, amounts) {
      for (const [limit, perMinute] of Object.entries(limits)) {
        if (perMinute === undefined) continue;
        spent.set(limit, { amount: left(limit, perMinute) + (amounts[limit] ?? 0), at: now() });
      }
    },
  };
}
