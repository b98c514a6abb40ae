import type { TokenSequence } from "../../engine.ts";
import { idsOf } from "../../token-sequence.ts";
import type { CheckedProgram } from "../run/checked-program.ts";

/**
 * Returns how many bytes from the start of the model file must be loaded before these sequences can run. The needed part of
 * a token embedding table ends with the row of the largest token id.
 */
export function neededBytes(
  { tensorsEnd, tables, fileBegins }: Pick<CheckedProgram, "tensorsEnd" | "tables" | "fileBegins">,
  sequences: readonly TokenSequence[],
): number {
  const rows = 1 + sequences.reduce((max, sequence) => idsOf(sequence).reduce((a, b) => Math.max(a, b), max), -1);
  return Math.max(tensorsEnd, ...tables.map(({ offset, rowBytes }) => offset + rows * rowBytes)) - fileBegins;
}
