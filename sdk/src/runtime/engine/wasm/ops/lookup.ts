import { shown } from "../../../../artifact/shown.ts";
import { tensorAt } from "../run/block.ts";
import { ProgramFault, sizeOf } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";

/** Looks up rows of an 8-bit or 4-bit token embedding table. Each group of `block` numbers has one scale. */
export interface LookupStep {
  readonly op: "lookup";
  readonly table: string;
  readonly scales: string;
  readonly bits: 8 | 4;
  readonly block: number;
  readonly out: number;
}

export const lookup: Operation<LookupStep> = (step, read, { vocabulary }) => {
  read.rows("token");
  const width = read.widthOf(step.out, "out", 4);
  const blockSize = sizeOf(step.block, "block", 4);
  const { bits } = step;
  if (bits !== 8 && bits !== 4) throw new ProgramFault(`bits is ${shown(bits)}, not 8 or 4`);
  if (width % blockSize !== 0 || (bits === 8 && blockSize !== width))
    throw new ProgramFault("block does not divide the width of out, or bits is 8 and block is not this width");
  const rowBytes = (width * bits) / 8;
  const scales = read.floats(step.scales, "scales", vocabulary * (width / blockSize));
  const table = read.table(step.table, "table", vocabulary * rowBytes);
  const out = read.out(step.out, "out", width);
  return {
    tokenTable: { offset: table, rowBytes },
    run(block) {
      const operands = [tensorAt(table), tensorAt(scales), block.ids, block.count, width] as const;
      if (bits === 8) block.kernels.lookupInt8(...operands, block.at(out));
      else block.kernels.lookupInt4(...operands, blockSize, block.at(out));
    },
  };
};
