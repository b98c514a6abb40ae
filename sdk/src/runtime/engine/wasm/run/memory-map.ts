import { MODEL, ROW_PARAMETERS } from "../constants/memory.ts";
import type { ProgramValue } from "./values.ts";

/*
 * Map of the engine's memory. constants/memory.ts has the addresses up to MODEL, because the kernels also use them.
 * This file computes all other addresses:
 *
 *     0        nothing: a pointer of 0 means "none"
 *     1 KiB    structs of kernel calls, and buffers of the kernels for one head and one tile
 *     3.25 KiB the kernels' constants (KERNEL_DATA)
 *     4 KiB    the model file (MODEL), after the weights that are expanded once (load/expanded-weights.ts). Its tensors begin
 *              at multiples of 64 bytes
 *     values   the program's values (layout.ts says where each one is)
 *     ids      i32 [tokens], the token ids of a batch
 *     vector   f32 [width], a sequence's vector while it is pooled and normalized
 *     scratch  bytes that attention needs in addition to its operands (assembly/scratch.ts)
 */

/** Bytes of a WebAssembly page. */
const PAGE = 65_536;
/** Bytes of a cache line. All regions and values begin at multiples of this number. */
const ALIGNMENT = 64;

/** Addresses at which the regions after the model file begin. The last region ends at `end`. */
export interface Regions {
  readonly values: number;
  readonly ids: number;
  readonly vector: number;
  readonly scratch: number;
  readonly end: number;
}

/** Sizes that the regions after the model file depend on. */
export interface RegionSizes {
  readonly file: number;
  readonly values: number;
  readonly tokens: number;
  /** Width of the program's output. */
  readonly width: number;
  readonly scratch: number;
}

export function regionsOf({ file, values: valueBytes, tokens, width, scratch: scratchBytes }: RegionSizes): Regions {
  const values = aligned(MODEL + file);
  const ids = aligned(values + valueBytes);
  const vector = aligned(ids + 4 * tokens);
  const scratch = aligned(vector + 4 * width);
  return { values, ids, vector, scratch, end: scratch + scratchBytes };
}

/** Returns the size in bytes of a value with `rows` rows. */
export const valueBytes = ({ type, width }: ProgramValue, rows: number): number =>
  type === "i8" ? rowParameters(width, rows) + rows * ROW_PARAMETERS : 4 * width * rows;

/** Returns the offset of the row parameters of an i8 value, counted from the start of the value. */
export const rowParameters = (width: number, rows: number): number => aligned(width * rows);

export const aligned = (offset: number): number => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
export const pagesFor = (bytes: number): number => Math.ceil(bytes / PAGE);
