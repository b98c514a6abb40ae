import type { TokenIds } from "../../engine.ts";
import type { CheckedProgram } from "../run/checked-program.ts";

/** Bytes of the model file, from its first one on, that sequences need: of token embedding tables only the rows of their ids. */
export function neededBytes(
  { tensorsEnd, tables }: Pick<CheckedProgram, "tensorsEnd" | "tables">,
  sequences: readonly TokenIds[],
): number {
  const rows = 1 + sequences.reduce((max, ids) => ids.reduce((a, b) => Math.max(a, b), max), -1);
  return Math.max(tensorsEnd, ...tables.map(({ offset, rowBytes }) => offset + rows * rowBytes));
}
