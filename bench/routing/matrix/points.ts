import type { Traffic } from "../load/job.ts";

/** A case of the matrix. */
export interface Point {
  readonly loop: Traffic["loop"];
  /** Number of clients in a closed loop; multiple of the capacity in an open loop. */
  readonly load: number;
  readonly length: "short" | "long";
  readonly budgetMs: number | undefined;
}

const loads = [
  ...[1, 8, 32, 128, 400].map((load) => ({ loop: "closed", load }) as const),
  ...[0.5, 0.9, 1.5, 3].map((load) => ({ loop: "open", load }) as const),
];
const lengths = ["short", "long"] as const;
const budgets = [undefined, 50, 250];

export const points: readonly Point[] = lengths.flatMap((length) =>
  loads.flatMap((load) => budgets.map((budgetMs) => ({ ...load, length, budgetMs }))),
);

/** Points of `--quick`. They differ from each other in all respects. */
export const quickPoints: readonly Point[] = [
  { loop: "closed", load: 1, length: "short", budgetMs: 50 },
  { loop: "closed", load: 8, length: "short", budgetMs: undefined },
  { loop: "closed", load: 8, length: "long", budgetMs: 250 },
  { loop: "closed", load: 32, length: "short", budgetMs: 50 },
  { loop: "closed", load: 128, length: "long", budgetMs: 250 },
  { loop: "closed", load: 400, length: "short", budgetMs: 250 },
  { loop: "open", load: 0.9, length: "short", budgetMs: 50 },
  { loop: "open", load: 3, length: "long", budgetMs: 250 },
];

/** Points of `--short`: one of each loop. */
export const shortPoints: readonly Point[] = [
  { loop: "closed", load: 8, length: "short", budgetMs: undefined },
  { loop: "open", load: 0.9, length: "long", budgetMs: 250 },
];

export const nameOf = ({ loop, load, length, budgetMs }: Point): string =>
  `${length} ${loop} ${loop === "open" ? `${load}×` : load} ${budgetMs === undefined ? "no budget" : `${budgetMs} ms`}`;
