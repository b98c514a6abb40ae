import { type Spending, spending } from "./spending.ts";

/** Wrong keys that an address may send per minute. */
const LIMIT = { guesses: 30 };

/** Addresses that are remembered. Beyond this, all counters begin again, so that memory stays bounded. */
const MAX_ADDRESSES = 10_000;

/** Counts the wrong keys of each address. */
export interface Guesses {
  /** Returns the milliseconds until an address may send a key again; undefined if it may now. */
  waitMs(address: string | undefined): number | undefined;
  /** Notes a wrong key. */
  note(address: string | undefined): void;
}

export function countGuesses(now?: () => number): Guesses {
  const byAddress = new Map<string, Spending>();
  return {
    waitMs: (address) =>
      address === undefined ? undefined : byAddress.get(address)?.over(LIMIT, { guesses: 1 })?.waitMs,
    note(address) {
      if (address === undefined) return;
      if (byAddress.size >= MAX_ADDRESSES) byAddress.clear();
      const spent = byAddress.get(address) ?? spending(now);
      byAddress.set(address, spent);
      spent.add(LIMIT, { guesses: 1 });
    },
  };
}
