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
