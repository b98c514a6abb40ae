import { BertEdgeError } from "../../artifact/error.ts";

/** Budgets are shorter than this time, 11 days: a header has up to nine digits. */
const MAX_BUDGET_MS = 1e9;

/** Milliseconds of gRPC's units: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
const GRPC_UNITS: Readonly<Record<string, number>> = { H: 3.6e6, M: 6e4, S: 1e3, m: 1, u: 1e-3, n: 1e-6 };

/** Shortest time in ms by which an answer can be late and still be of use. */
const MIN_LATE_MS = 100;

/** Returns how late an answer can be and still be of use, in ms: as late as the budget is long. */
export const maxLateMs = (budgetMs = 0): number => Math.max(MIN_LATE_MS, budgetMs);

export const isBudget = (budgetMs: unknown): boolean =>
  typeof budgetMs === "number" && budgetMs > 0 && budgetMs < MAX_BUDGET_MS;

/** Clock and latency budget of a request. */
export interface Deadline {
  /** Milliseconds since the request arrived. On Workers the clock advances only with I/O. */
  elapsedMs(): number;
  /** The whole budget in milliseconds; undefined without one. */
  readonly budgetMs: number | undefined;
  /** Remaining milliseconds of the budget, negative when it is exceeded; undefined without a budget. */
  remainingMs(): number | undefined;
}

/**
 * Starts the clock of a request.
 *
 * @param budgetMs the latency budget in milliseconds; undefined without one
 * @param options.startedAt time on the clock `now` at which the request arrived. Default: now
 * @throws BertEdgeError `budget_invalid`
 */
export function startDeadline(
  budgetMs: number | undefined,
  { now = () => performance.now(), startedAt = now() }: { now?: () => number; startedAt?: number } = {},
): Deadline {
  if (budgetMs !== undefined && !isBudget(budgetMs)) throw budgetInvalid(`The latency budget is ${budgetMs}`);
  const elapsedMs = () => now() - startedAt;
  return { elapsedMs, budgetMs, remainingMs: () => (budgetMs === undefined ? undefined : budgetMs - elapsedMs()) };
}

/** What a request says about its budget. */
export interface BudgetFields {
  /** The header `x-latency-budget-ms`: a positive decimal number of milliseconds. */
  readonly header?: string | undefined;
  /** The header `grpc-timeout`: up to eight digits and a unit. */
  readonly grpcTimeout?: string | undefined;
  /** The field `latency_budget_ms` of the body. */
  readonly bodyMs?: number | undefined;
}

/**
 * Reads the budget of a request; undefined if it gives none. If it gives several, the smallest one counts.
 *
 * @throws BertEdgeError `budget_invalid`
 */
export function readBudget({ header, grpcTimeout, bodyMs }: BudgetFields): number | undefined {
  const given = [
    header === undefined ? undefined : parseBudget(header),
    grpcTimeout === undefined ? undefined : parseGrpcTimeout(grpcTimeout),
    bodyMs,
  ].filter((budget) => budget !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

function parseBudget(header: string): number {
  const value = /^\d{1,9}(\.\d+)?$/.test(header.trim()) ? Number(header) : 0;
  if (value > 0) return value;
  throw budgetInvalid(`The header x-latency-budget-ms is ${JSON.stringify(header)}`);
}

function parseGrpcTimeout(header: string): number {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(header.trim()) ?? [];
  const value = Number(digits) * (GRPC_UNITS[unit ?? ""] ?? 0);
  // Values beyond the limit count as the limit: a caller with eight years has no budget in practice.
  if (value > 0) return Math.min(value, MAX_BUDGET_MS / 2);
  throw new BertEdgeError("budget_invalid", `The header grpc-timeout is ${JSON.stringify(header)}.`, {
    hint: "Send up to eight digits and one of the units H, M, S, m, u, n, for example 50m for 50 milliseconds.",
  });
}

const budgetInvalid = (found: string): BertEdgeError =>
  new BertEdgeError("budget_invalid", `${found}, which is not a positive number below 10⁹.`, {
    hint: "Give milliseconds, for example 30 or 12.5, or leave the budget out.",
  });
