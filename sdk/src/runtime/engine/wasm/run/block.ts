import { MODEL, ROW_PARAMETERS } from "../constants/memory.ts";
import type { Kernels } from "./kernels.ts";
import type { Regions } from "./memory-map.ts";
import type { ProgramValue, View } from "./values.ts";

/**
 * Places of a program's values in memory, for batches of up to `tokens` tokens. Offsets count from the address
 * `Regions.values`.
 */
export interface Layout {
  readonly tokens: number;
  /** Offset of the first row of every value. */
  readonly offsets: readonly number[];
  /** Offset of the row parameters of every i8 value: scale, zero point, sum. */
  readonly parameters: readonly number[];
  /** Whether each value has memory for the rows of all tokens. If not, the value has memory for the rows of one block. */
  readonly isWhole: readonly boolean[];
  /** Bytes of all values. */
  readonly bytes: number;
}

/** A batch whose token ids are in memory. */
export interface PlacedBatch {
  readonly layout: Layout;
  readonly regions: Pick<Regions, "rowScales" | "values" | "ids" | "places" | "scratch">;
  /** Index of the first token of each sequence. The last entry is the number of tokens of the batch. */
  readonly starts: readonly number[];
  /** Index of each sequence's first token with token type 1; of the next sequence's first token if all its tokens have type 0. */
  readonly seconds: readonly number[];
  /** Number of tokens at the start of each sequence that all its tokens attend to. */
  readonly attended: readonly number[];
}

/** Returns the pointer to a tensor, from its offset after the address MODEL; 0 for none. */
export const tensorAt = (offset: number | undefined): number => (offset === undefined ? 0 : MODEL + offset);

/** `count` rows of a batch, from row `from` on. Steps run on a block, and get the addresses of their operands from it. */
export class Block {
  readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  readonly batch: PlacedBatch;
  readonly from: number;
  readonly count: number;
  readonly #values: readonly ProgramValue[];

  constructor(
    machine: { memory: WebAssembly.Memory; kernels: Kernels; values: readonly ProgramValue[] },
    batch: PlacedBatch,
    from: number,
    count: number,
  ) {
    this.memory = machine.memory;
    this.kernels = machine.kernels;
    this.#values = machine.values;
    this.batch = batch;
    this.from = from;
    this.count = count;
  }

  /** Pointer to the block's token ids. */
  get ids(): number {
    return this.batch.regions.ids + 4 * this.from;
  }

  /** Pointer to the places of the block's tokens in a table in pages. */
  get places(): number {
    return this.batch.regions.places + 4 * this.from;
  }

  /** Distance from one row of a view to the next, in numbers. */
  stride({ value }: View): number {
    return this.#value(value).width;
  }

  /** Pointer to a view's row for token `from + offset`. */
  at({ value, column }: View, offset = 0): number {
    const { type, width } = this.#value(value);
    const { layout, regions } = this.batch;
    const index = (this.#firstRow(value) + offset) * width + column;
    return regions.values + (layout.offsets[value] as number) + index * (type === "i8" ? 1 : 4);
  }

  /** Pointer to the row parameters of an i8 value's first row in the block. */
  parameters({ value }: View): number {
    const { layout, regions } = this.batch;
    return regions.values + (layout.parameters[value] as number) + this.#firstRow(value) * ROW_PARAMETERS;
  }

  /**
   * Calls `call` for each sequence that has rows in this block. `rows` is the number of these rows. `offset` is the
   * first row's index in the block. `position` is the first row's index in the sequence.
   */
  eachSequence(call: (offset: number, rows: number, position: number, sequence: number) => void): void {
    const { starts } = this.batch;
    for (let i = 0; i + 1 < starts.length; i++) {
      const [start, end] = [starts[i] as number, starts[i + 1] as number];
      const [begin, stop] = [Math.max(start, this.from), Math.min(end, this.from + this.count)];
      if (begin < stop) call(begin - this.from, stop - begin, begin - start, i);
    }
  }

  #value(value: number): ProgramValue {
    return this.#values[value] as ProgramValue;
  }

  #firstRow(value: number): number {
    return this.batch.layout.isWhole[value] ? this.from : 0;
  }
}
