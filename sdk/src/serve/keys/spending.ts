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

/** Callers that are remembered, so that memory stays bounded. */
const MAX_CALLERS = 10_000;

/**
 * Makes a function that returns what a caller has spent. Of more than `maxCallers` callers, those that were not asked for the
 * longest time are forgotten.
 */
export function spendingByCaller(now?: () => number, maxCallers = MAX_CALLERS): (caller: string) => Spending {
  const byCaller = new Map<string, Spending>();
  return (caller) => {
    const spent = byCaller.get(caller) ?? spending(now);
    // The last key of a map is the one that was set last.
    byCaller.delete(caller);
    byCaller.set(caller, spent);
    const [oldest] = byCaller.keys();
    if (byCaller.size > maxCallers && oldest !== undefined) byCaller.delete(oldest);
    return spent;
  };
}

/** Wrong keys of an address per minute that are answered as wrong. */
const LIMIT = { guesses: 30 };

/**
 * Makes a function that counts a wrong key of an address.
 *
 * @returns the milliseconds until another wrong key is counted, if the address has sent too many; undefined otherwise
 */
export function countGuesses(now?: () => number): (address: string | undefined) => number | undefined {
  const guessesOf = spendingByCaller(now);
  return (address) => {
    if (address === undefined) return undefined;
    const guesses = guessesOf(address);
    const over = guesses.over(LIMIT, { guesses: 1 });
    if (!over) guesses.add(LIMIT, { guesses: 1 });
    return over?.waitMs;
  };
}
