import { BertEdgeError } from "../../artifact/error.ts";

/** Budgets are shorter than this time, 11 days: a header has up to nine digits. */
const MAX_BUDGET_MS = 1e9;

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
export const startDeadline = (header: string | undefined, now?: () => number): Deadline =>
  deadlineAfter(header === undefined ? undefined : parseBudget(header), now);

/**
 * Starts the clock of a call.
 *
 * @param budgetMs the latency budget in milliseconds; undefined without one
 * @throws BertEdgeError `budget_invalid`
 */
export function deadlineAfter(budgetMs: number | undefined, now: () => number = () => performance.now()): Deadline {
  if (budgetMs !== undefined && !(budgetMs > 0 && budgetMs < MAX_BUDGET_MS))
    throw budgetInvalid(`The latency budget is ${budgetMs}`);
  const start = now();
  const elapsedMs = () => now() - start;
  return { elapsedMs, remainingMs: () => (budgetMs === undefined ? undefined : budgetMs - elapsedMs()) };
}

function parseBudget(header: string): number {
  const value = /^\d{1,9}(\.\d+)?$/.test(header.trim()) ? Number(header) : 0;
  if (value > 0) return value;
  throw budgetInvalid(`The header x-latency-budget-ms is ${JSON.stringify(header)}`);
}

const budgetInvalid = (found: string): BertEdgeError =>
  new BertEdgeError("budget_invalid", `${found}, which is not a positive number below 10⁹.`, {
    hint: "Give milliseconds, for example 30 or 12.5, or leave the budget out.",
  });
