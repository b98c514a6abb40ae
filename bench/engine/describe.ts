import { table } from "#sdk/cli/output.ts";
import { type Figure, figuresOf } from "../figures.ts";
import type { Measured } from "./measured.ts";
import type { Asked, Row } from "./rows.ts";

/** A row with its measurements. `reached` is true if the figure meets the limit. */
export interface Result extends Omit<Row, "measure">, Measured {
  readonly reached: boolean;
}

export function resultOf({ measure: _, ...row }: Row, measured: Measured): Result {
  const { asked } = row;
  const reached = "least" in asked ? measured.figure >= asked.least : measured.figure <= asked.most;
  return { ...row, ...measured, reached };
}

export const figuresOfRow = ({ name, figure, unit, agreement }: Result): Figure[] =>
  figuresOf(name, { figure: [figure, unit], "cosine with float32": [agreement, "agreement"] });

export function describe(results: readonly Result[]): string {
  const headings = ["row", "what", "bert-edge", "against", "", "figure", "asked", ""];
  const lines = results.map(({ name, what, ours, against, other = "", figure, unit, asked, reached }) => [
    name,
    what,
    ours,
    against,
    other,
    `${figure.toFixed(2)} ${unit}`,
    textOf(asked),
    reached ? "✓" : "✗",
  ]);
  return table(headings, lines);
}

const textOf = (asked: Asked): string =>
  `${"least" in asked ? `≥ ${asked.least}` : `≤ ${asked.most}`}${asked.aim === undefined ? "" : `, aim ${asked.aim}`}`;
