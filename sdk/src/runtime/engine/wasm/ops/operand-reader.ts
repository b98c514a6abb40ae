import { shown } from "../../../../artifact/shown.ts";
import type { ProgramValue } from "../run/values.ts";

/** A JSON object of a program whose fields are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** `width` columns of a value, from `column` on. The value is checked to have them. */
export interface ColumnView {
  readonly value: number;
  readonly column: number;
  readonly width: number;
}

/** Offset of a tensor from the address MODEL. The tensor is checked to have all bytes that the step reads. */
export type TensorOffset = number;

/** A tensor of float32 numbers in the model file. `mayMask`: whether the tensor may contain −∞ beside finite numbers. */
export interface StoredNumbers {
  readonly name: string;
  readonly offset: TensorOffset;
  readonly count: number;
  readonly mayMask: boolean;
}

export interface TokenTable {
  readonly offset: TensorOffset;
  readonly rowBytes: number;
  /** Undefined if the file has all rows. */
  readonly pages?: TablePages;
}

/** The pages of a table, whose fields ops/lookup.ts describes. */
export interface TablePages {
  readonly resident: number;
  readonly cached: number;
  readonly rows: number;
  /** Number of pages, and bytes of all. */
  readonly count: number;
  readonly bytes: number;
  /** Bytes of a row in a page, with its scale. */
  readonly rowBytes: number;
  /** f32 [resident] */
  readonly scales: TensorOffset;
  readonly frequent: Int32Array;
  readonly hashes: readonly string[];
}

/** Offsets and sizes of the tensors in memory. */
export interface TensorRanges {
  tensor(name: string): number;
  /** Returns the size of a tensor in bytes; undefined when no tensor has this name. */
  size(name: string): number | undefined;
  /** Returns the offset of the file's end. */
  end(): number;
}

/** A reason to refuse a program. */
export class ProgramFault extends Error {}

/**
 * Maximum of every size in a program. Products of two such sizes are exact in JavaScript, and each size fits into the
 * 32-bit numbers of the kernels.
 */
const MAX_SIZE = 2 ** 20;

/** Checks that `size` is a positive multiple of `multiple`, at most MAX_SIZE. @throws ProgramFault */
export function sizeOf(size: unknown, name: string, multiple = 1): number {
  if (isInteger(size) && size > 0 && size <= MAX_SIZE && size % multiple === 0) return size;
  throw new ProgramFault(
    `${name} is ${shown(size)}, not a ${multiple === 1 ? "positive integer" : `positive multiple of ${multiple}`} up to ${MAX_SIZE}`,
  );
}

/** Checks that `part` is a JSON object. @throws ProgramFault */
export function fieldsOf(part: unknown, name: string): Fields {
  if (typeof part === "object" && part !== null && !Array.isArray(part)) return part as Fields;
  throw new ProgramFault(`${name} is ${shown(part)}, not an object`);
}

/**
 * Checks the operands of one step, and records which values the step reads and writes. A view must lie inside a value
 * that an earlier step has written. A tensor must have all bytes that the step reads. Kernels check nothing, so every
 * operand goes through this class.
 *
 * The methods throw ProgramFault when an operand is invalid.
 */
export class OperandReader {
  readonly reads: number[] = [];
  readonly writes: number[] = [];
  /** End of the last tensor that this step reads whole, as an offset from the address MODEL. */
  tensorsEnd = 0;
  /** The tensors of float32 numbers that this step reads. */
  readonly numbers: StoredNumbers[] = [];
  readonly #values: readonly ProgramValue[];
  readonly #written: ReadonlySet<number>;
  readonly #tensors: TensorRanges;
  #rows: ProgramValue["of"] | undefined;

  constructor(values: readonly ProgramValue[], written: ReadonlySet<number>, tensors: TensorRanges) {
    this.#values = values;
    this.#written = written;
    this.#tensors = tensors;
  }

  /** Checks that all values of this step have the same kind of rows: one per token, or one per sequence. */
  rows(of: ProgramValue["of"]): void {
    this.#rows ??= of;
    if (this.#rows !== of) throw new ProgramFault("it mixes rows of tokens and rows of sequences");
  }

  /** Returns the width of a value. Checks that the width is a multiple of `multiple`, as the kernel requires. */
  widthOf(value: unknown, name: string, multiple = 1): number {
    return sizeOf(this.#value(value, name).width, `width of ${name}`, multiple);
  }

  /** Records that the step reads all columns of a value. If `width` is given, the value must have that width. */
  whole(value: unknown, name: string, type: ProgramValue["type"] = "f32", width?: number): ColumnView {
    const all = this.#value(value, name).width;
    if (width !== undefined && width !== all) throw new ProgramFault(`${name} has ${all} columns, not ${width}`);
    return this.#read({ value: value as number, column: 0, width: all }, name, type);
  }

  /** Records that the step reads `width` columns of a float32 value. `view` is `{ value, column }`. */
  columns(view: unknown, name: string, width: number): ColumnView {
    const { value, column } = fieldsOf(view, name);
    const all = this.#value(value, name).width;
    if (!isInteger(column) || column < 0 || column + width > all) {
      throw new ProgramFault(`${name} has no ${width} columns from column ${shown(column)} on`);
    }
    return this.#read({ value: value as number, column, width }, name, "f32");
  }

  /** Records that the step writes all columns of a value. */
  out(value: unknown, name: string, width: number, type: ProgramValue["type"] = "f32"): ColumnView {
    const { width: all, of, type: found } = this.#value(value, name);
    if (all !== width) throw new ProgramFault(`${name} has ${all} columns, not ${width}`);
    if (found !== type) throw new ProgramFault(`${name} is ${found}, not ${type}`);
    this.rows(of);
    this.writes.push(value as number);
    return { value: value as number, column: 0, width };
  }

  /** Records that the step reads one row per token and writes one row per sequence. */
  outOfSequences(value: unknown, name: string, width: number): ColumnView {
    this.rows("token");
    this.#rows = "sequence";
    return this.out(value, name, width);
  }

  /** Records that the step overwrites columns that it has read. */
  inPlace({ value }: ColumnView): void {
    this.writes.push(value);
  }

  tensor(name: unknown, field: string, bytes: number): TensorOffset {
    const offset = this.table(name, field, bytes);
    this.tensorsEnd = Math.max(this.tensorsEnd, offset + bytes);
    return offset;
  }

  /** Checks a tensor of which a request needs only some rows. Therefore `tensorsEnd` does not include it. */
  table(name: unknown, field: string, bytes: number): TensorOffset {
    const size = typeof name === "string" ? this.#tensors.size(name) : undefined;
    if (size === undefined) throw new ProgramFault(`${field} is ${shown(name)}, and the file has no such tensor`);
    if (size < bytes) throw new ProgramFault(`${field} (${name}) has ${size} bytes, and ${bytes} are needed`);
    return this.#tensors.tensor(name as string);
  }

  /** Like `table`, for a tensor at the end of the file: memory after it can hold more rows. */
  last(name: unknown, field: string, bytes: number): TensorOffset {
    const offset = this.table(name, field, bytes);
    if (offset + bytes === this.#tensors.end()) return offset;
    throw new ProgramFault(`${field} (${name}) is not at the end of the file`);
  }

  /** Checks a tensor of finite float32 numbers. With `mayMask`, they may also be −∞, the bias of tokens that are not attended to. */
  floats(name: unknown, field: string, count: number, mayMask = false): TensorOffset {
    const offset = this.integers(name, field, count);
    this.numbers.push({ name: name as string, offset, count, mayMask });
    return offset;
  }

  /** Checks a tensor of int32 numbers. */
  integers(name: unknown, field: string, count: number): TensorOffset {
    return this.tensor(name, field, 4 * count);
  }

  optionalFloats(name: unknown, field: string, count: number): TensorOffset | undefined {
    return name === undefined ? undefined : this.floats(name, field, count);
  }

  #read(view: ColumnView, name: string, type: ProgramValue["type"]): ColumnView {
    const { of, type: found } = this.#values[view.value] as ProgramValue;
    if (!this.#written.has(view.value)) throw new ProgramFault(`${name} is read before it is written`);
    if (found !== type) throw new ProgramFault(`${name} is ${found}, not ${type}`);
    this.rows(of);
    this.reads.push(view.value);
    return view;
  }

  #value(value: unknown, name: string): ProgramValue {
    const found = isInteger(value) ? this.#values[value] : undefined;
    if (!found) throw new ProgramFault(`${name} is ${shown(value)}, and the program has no such value`);
    return found;
  }
}

/** Checks that `number` is finite as a float32. @throws ProgramFault */
export function finiteNumber(number: unknown, name: string): number {
  if (typeof number === "number" && Number.isFinite(Math.fround(number))) return number;
  throw new ProgramFault(`${name} is ${shown(number)}, not a finite number`);
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
