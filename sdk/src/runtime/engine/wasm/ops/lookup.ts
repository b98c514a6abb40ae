import { shown } from "../../../../artifact/shown.ts";
import { tensorAt } from "../run/block.ts";
import { ProgramFault } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";

/**
 * Looks up rows of a token embedding table. Each row has a scale. A row of an 8-bit table is u8 [width]. A row of a 4-bit table has
 * a multiplier for each 16 numbers too, and is u8 [width/2 + width/32].
 */
export interface LookupStep {
  readonly op: "lookup";
  readonly table: string;
  readonly scales: string;
  readonly bits: 8 | 4;
  readonly out: number;
}

/** Bytes of a row of a 4-bit table: half a byte for each number, and half a byte for each 16 numbers. */
export const levelRowBytes = (width: number): number => width / 2 + width / 32;

export const lookup: Operation<LookupStep> = (step, read, { vocabulary }) => {
  read.rows("token");
  const { bits } = step;
  if (bits !== 8 && bits !== 4) throw new ProgramFault(`bits is ${shown(bits)}, not 8 or 4`);
  const width = read.widthOf(step.out, "out", bits === 8 ? 4 : 32);
  const rowBytes = bits === 8 ? width : levelRowBytes(width);
  const scales = tensorAt(read.floats(step.scales, "scales", vocabulary));
  const table = read.table(step.table, "table", vocabulary * rowBytes);
  const out = read.out(step.out, "out", width);
  const kernel = bits === 8 ? "lookupInt8" : "lookupInt4";
  return {
    tokenTable: { offset: table, rowBytes },
    run: (block) => block.kernels[kernel](tensorAt(table), scales, block.ids, block.count, width, block.at(out)),
  };
};
