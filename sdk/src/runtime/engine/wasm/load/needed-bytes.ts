import type { CheckedProgram } from "../run/checked-program.ts";

/**
 * Returns how many bytes from the start of the model file must be loaded before the first rows of its token embedding tables, and all
 * that stands before them, can be used.
 *
 * @param rows number of first rows that are used
 */
export const neededBytes = (
  { tensorsEnd, tables, fileBegins }: Pick<CheckedProgram, "tensorsEnd" | "tables" | "fileBegins">,
  rows: number,
): number => Math.max(tensorsEnd, ...tables.map(({ offset, rowBytes }) => offset + rows * rowBytes)) - fileBegins;
