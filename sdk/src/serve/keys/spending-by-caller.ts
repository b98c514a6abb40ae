import { type Spending, spending } from "./spending.ts";

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
