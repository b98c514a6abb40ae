import { BertEdgeError } from "../../artifact/error.ts";

/** Clock and latency budget of a request. */
export interface Deadline {
  /** Milliseconds since the request arrived. On Workers the clock advances only with I/O. */
  elapsedMs(): number;
  /** Remaining milliseconds of the budget, negative when it is exceeded; undefined without a budget. */
  remainingMs(): number | undefined;
}

/**
 * Starts the clock of a request that has just arrived.
 *
 * @param header the value of `x-latency-budget-ms`: a positive decimal number of milliseconds
 * @throws BertEdgeError `budget_invalid`
 */
export function startDeadline(header: string | undefined, now: () => number = () => performance.now()): Deadline {
  const start = now();
  const budgetMs = header === undefined ? undefined : parseBudget(header);
  const elapsedMs = () => now() - start;
  return { elapsedMs, remainingMs: () => (budgetMs === undefined ? undefined : budgetMs - elapsedMs()) };
}

function parseBudget(header: string): number {
  const value = /^\d{1,9}(\.\d+)?$/.test(header.trim()) ? Number(header) : 0;
  if (value > 0) return value;
  throw new BertEdgeError(
    "budget_invalid",
    `The header x-latency-budget-ms is ${JSON.stringify(header)}, which is not a positive number.`,
    { hint: "Send milliseconds, for example 30 or 12.5, or leave the header out." },
  );
}
