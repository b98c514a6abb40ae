/** A request that sends this has no budget, although there is a default one. */
export const NO_BUDGET = "none";

/** Milliseconds of the budget `none`: longer than any other. */
export const UNLIMITED_MS = Number.POSITIVE_INFINITY;

/** The origin of a budget: the caller, or the operator, as a default or as the longest one. */
export type BudgetSetter = "caller" | "default" | "maximum";

/** The budget of a request. */
export interface Budget {
  /** The whole budget in milliseconds; undefined without one. */
  readonly budgetMs: number | undefined;
  readonly setBy: BudgetSetter;
}

/** Names of the figures in `x-bert-edge-decision`. Numbers are milliseconds. Flags are present if they are true. */
export type Figure =
  | "budget"
  | "default-budget"
  | "longest-budget"
  | "used"
  | "arrival-error"
  | "lost"
  | "wait"
  | "next-turn"
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

/** The figures of a decision. Those that are zero or false are absent, apart from `wait`, `compute` and `spread`. */
export type Figures = { [Name in Figure]?: number | true };
