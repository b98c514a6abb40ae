import type { TokenIds } from "../../engine.ts";
import type { CheckedProgram } from "../run/checked-program.ts";

/**
 * Returns how many bytes these sequences need, counted from the start of the model file. Token embedding tables count up to
 * the row of the largest token id.
 */
export function neededBytes(
  { tensorsEnd, tables }: Pick<CheckedProgram, "tensorsEnd" | "tables">,
  sequences: readonly TokenIds[],
): number {
  const rows = 1 + sequences.reduce((max, ids) => ids.reduce((a, b) => Math.max(a, b), max), -1);
  return Math.max(tensorsEnd, ...tables.map(({ offset, rowBytes }) => offset + rows * rowBytes));
}
