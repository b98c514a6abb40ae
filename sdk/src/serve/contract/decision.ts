/** Value of the budget field or header with which a request has no budget, even if the deployment has a default. */
export const NO_BUDGET = "none";

/** Milliseconds of the budget `none`: longer than any other. */
export const UNLIMITED_MS = Number.POSITIVE_INFINITY;

/** Origin of a budget: the caller, the operator's default, or the operator's maximum. */
export type BudgetSetter = "caller" | "default" | "maximum";

/** The budget of a request. */
export interface Budget {
  /** The whole budget in milliseconds; undefined without a budget. */
  readonly budgetMs: number | undefined;
  readonly setBy: BudgetSetter;
}

/**
 * Names of the figures in `x-bert-edge-decision`. Numbers are milliseconds, apart from `page-reads` and `page-limit`. Flags are present
 * if they are true.
 */
export type Figure =
  | "budget"
  | "default-budget"
  | "longest-budget"
  | "used"
  | "arrival-error"
  | "lost"
  | "wait"
  | "next-turn"
  | "pages"
  | "page-reads"
  | "page-limit"
  | "short"
  | "compute"
  | "spread"
  | "cpu"
  | "cpu-limit"
  | "several-calls"
  | "others-late"
  | "answers-late"
  | "region"
  | "region-spread"
  | "region-wait"
  | "region-down"
  | "region-refused"
  | "pinned"
  | "hedge";

/** The figures of a decision. Figures that are zero or false are absent, apart from `wait`, `compute` and `spread`. */
export type Figures = { [Name in Figure]?: number | true };
