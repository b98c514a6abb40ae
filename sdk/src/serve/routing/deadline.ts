import { BertEdgeError } from "../../artifact/error.ts";
import { type Budget, type BudgetSetter, NO_BUDGET, UNLIMITED_MS } from "../contract/decision.ts";

/** Limit of budgets in ms, 11 days: the header has up to nine digits before the decimal point. */
const MAX_BUDGET_MS = 1e9;

/** Milliseconds of gRPC's units: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
const GRPC_UNITS: Readonly<Record<string, number>> = { H: 3.6e6, M: 6e4, S: 1e3, m: 1, u: 1e-3, n: 1e-6 };

/** Shortest time in ms by which an answer can be late and still be of use. */
const MIN_LATE_MS = 100;

/** Returns the time in ms by which an answer can be late and still be of use: the budget, but at least `MIN_LATE_MS`. */
export const maxLateMs = (budgetMs = 0): number => Math.max(MIN_LATE_MS, budgetMs);

export const isBudget = (budgetMs: unknown): boolean =>
  typeof budgetMs === "number" && budgetMs > 0 && budgetMs < MAX_BUDGET_MS;

/** The arrival of a request. If a computation occupied the thread, only an interval of the arrival is known. */
export interface ArrivalTime {
  /** Time on the clock of `performance.now`. */
  readonly at: number;
  /** Largest distance of `at` from the true time, in ms. */
  readonly errorMs: number;
  /** Milliseconds for which computations had occupied the thread when the request was noticed. */
  readonly busyMs: number;
}

/** Returns an arrival between two times. `busyMs`: how long computations have occupied the thread until `latest`. */
export const arrivalBetween = (earliest: number, latest: number, busyMs: number): ArrivalTime => ({
  at: (earliest + latest) / 2,
  errorMs: (latest - earliest) / 2,
  busyMs,
});

/** Returns the maximum time in ms for which a request can have waited for the thread while other requests were computed. */
export const lostMs = ({ errorMs, busyMs }: ArrivalTime, busyNowMs: number): number => 2 * errorMs + busyNowMs - busyMs;

/** Clock and latency budget of a request. */
export interface Deadline extends Budget {
  /** Milliseconds since the request arrived. On Workers the clock advances only with I/O. */
  elapsedMs(): number;
  readonly arrival: ArrivalTime;
  /** Remaining milliseconds of the budget, negative when it is exceeded; undefined without a budget. */
  remainingMs(): number | undefined;
}

/**
 * Starts the clock of a request.
 *
 * @param budget the latency budget in milliseconds; undefined or `UNLIMITED_MS` without one
 * @param options.setBy who has set the budget. Default: the caller
 * @param options.arrival when the request arrived, on the clock `now`. Default: now
 * @throws BertEdgeError `budget_invalid`
 */
export function startDeadline(
  budget: number | undefined,
  {
    now = () => performance.now(),
    arrival = { at: now(), errorMs: 0, busyMs: 0 },
    setBy = "caller",
  }: { now?: () => number; arrival?: ArrivalTime; setBy?: BudgetSetter } = {},
): Deadline {
  const budgetMs = budget === UNLIMITED_MS ? undefined : budget;
  if (budgetMs !== undefined && !isBudget(budgetMs)) throw budgetInvalid(`The latency budget is ${budgetMs}`);
  const elapsedMs = () => now() - arrival.at;
  const remainingMs = () => (budgetMs === undefined ? undefined : budgetMs - elapsedMs());
  return { elapsedMs, arrival, budgetMs, setBy, remainingMs };
}

/**
 * Reads the budget in the headers of a request; undefined if they give none. If they give two, the smaller one counts.
 *
 * @param headers.header `x-latency-budget-ms`: a positive decimal number of milliseconds, or `none`
 * @param headers.grpcTimeout `grpc-timeout`: up to eight digits and a unit
 * @throws BertEdgeError `budget_invalid`
 */
export function readBudget(headers: { [Name in "header" | "grpcTimeout"]?: string | undefined }): number | undefined {
  const { header, grpcTimeout } = headers;
  return smallerBudget(
    header === undefined ? undefined : parseBudget(header),
    grpcTimeout === undefined ? undefined : parseGrpcTimeout(grpcTimeout),
  );
}

/** Returns the smaller one of two budgets that may be undefined. */
export const smallerBudget = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

function parseBudget(header: string): number {
  if (header.trim().toLowerCase() === NO_BUDGET) return UNLIMITED_MS;
  const value = /^\d{1,9}(\.\d+)?$/.test(header.trim()) ? Number(header) : 0;
  if (value > 0) return value;
  throw budgetInvalid(`The header x-latency-budget-ms is ${JSON.stringify(header)}`);
}

function parseGrpcTimeout(header: string): number {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(header.trim()) ?? [];
  const value = Number(digits) * (GRPC_UNITS[unit ?? ""] ?? 0);
  // Values beyond half of `MAX_BUDGET_MS` count as this half: a caller that can wait for days has no budget in practice.
  if (value > 0) return Math.min(value, MAX_BUDGET_MS / 2);
  throw new BertEdgeError("budget_invalid", `The header grpc-timeout is not valid: ${JSON.stringify(header)}.`, {
    hint: "Send up to eight digits and one of the units H, M, S, m, u, n, for example 50m for 50 milliseconds.",
  });
}

const budgetInvalid = (found: string): BertEdgeError =>
  new BertEdgeError("budget_invalid", `${found}, which is not a positive number below 10⁹.`, {
    hint: "Give milliseconds, for example 30 or 12.5, or `none`, or leave the budget out.",
  });
