/** A request that sends this has no budget, although there is a default one. */
export const NO_BUDGET = "none";

/** Milliseconds of the budget `none`: longer than any other. */
export const UNLIMITED_MS = Number.POSITIVE_INFINITY;

/** Who has set a budget: the caller, or the operator, as a default or as the longest one. */
export type BudgetSetter = "caller" | "default" | "maximum";

/** The budget of a request. */
export interface Budget {
  /** The whole budget in milliseconds; undefined without one. */
  readonly budgetMs: number | undefined;
  readonly setBy: BudgetSetter;
}
