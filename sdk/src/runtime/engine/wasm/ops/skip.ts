import { type Block, tensorAt } from "../run/block.ts";
import { type ColumnView, type Fields, finiteNumber, type OperandReader } from "./operand-reader.ts";
import type { Sizes } from "./operation.ts";

/** The second operand of a sum: another value, or a position table. */
export type Skip = { readonly value: number } | PositionTable;

/**
 * A position table, with one row per position. `padding` is a token id. If it is set, tokens with this id get row 0.
 * Only the other tokens are then counted as positions, and get the rows from 1 on.
 */
export interface PositionTable {
  readonly positions: string;
  /** The position table for tokens with token type 1. Missing if the token type does not matter. */
  readonly second?: string;
  readonly padding?: number;
}

/**
 * Splits a block into parts whose rows of the second operand follow each other in memory, and calls `call` for each part. `y` is the
 * pointer to the first of these rows.
 */
export type EachSkip = (block: Block, call: (offset: number, rows: number, y: number) => void) => void;

/** Checks the second operand of a sum. @throws ProgramFault */
export function skipOf(skip: Fields, read: OperandReader, width: number, sizes: Sizes): EachSkip {
  if (skip["value"] === undefined) return positionsOf(skip, read, width, sizes);
  const view: ColumnView = read.whole(skip["value"], "the added value", "f32", width);
  return (block, call) => call(0, block.count, block.at(view));
}

function positionsOf(skip: Fields, read: OperandReader, width: number, { maxTokens }: Sizes): EachSkip {
  read.rows("token");
  const padding = skip["padding"] === undefined ? undefined : finiteNumber(skip["padding"], "padding");
  const rows = maxTokens + (padding === undefined ? 0 : 1);
  const positions = tensorAt(read.floats(skip["positions"], "positions", rows * width));
  const second = tensorAt(read.optionalFloats(skip["second"], "second", rows * width));
  return (block, call) =>
    eachPosition(block, padding, (offset, rows, row, sequence) => {
      const before = (block.batch.seconds[sequence] as number) - block.from - offset;
      const first = second === 0 ? rows : Math.min(Math.max(before, 0), rows);
      if (first > 0) call(offset, first, positions + 4 * row * width);
      if (first < rows) call(offset + first, rows - first, second + 4 * (row + first) * width);
    });
}

/**
 * Like `eachSequence`, but passes a row of the position table instead of a position. Padding tokens can split a sequence
 * into several calls.
 */
const eachPosition = (
  block: Block,
  padding: number | undefined,
  call: (offset: number, rows: number, row: number, sequence: number) => void,
): void =>
  block.eachSequence((offset, rows, position, sequence) => {
    if (padding === undefined) return call(offset, rows, position, sequence);
    const start = block.ids + 4 * (offset - position);
    const ids = new Int32Array(block.memory.buffer, start, position + rows);
    if (!ids.includes(padding)) return call(offset, rows, 1 + position, sequence);
    let counted = ids.subarray(0, position).filter((id) => id !== padding).length;
    for (let i = 0; i < rows; i++) call(offset + i, 1, ids[position + i] === padding ? 0 : ++counted, sequence);
  });
