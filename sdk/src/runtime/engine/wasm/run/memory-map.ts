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
 *     rows     rows of a table in pages that are kept, right after the file's own rows, and then the scales of all rows in memory
 *     values   the program's values (layout.ts says where each one is)
 *     ids      i32 [tokens], the token ids of a batch
 *     places   i32 [tokens], where the rows of these tokens are in a table in pages
 *     vector   f32 [width], a sequence's vector while it is pooled and normalized
 *     scratch  bytes that attention needs in addition to its operands (assembly/scratch.ts)
 */

/** Bytes of a WebAssembly page. */
export const WASM_PAGE = 65_536;
/** Bytes of a cache line. All regions and values begin at multiples of this number. */
const ALIGNMENT = 64;

/** Addresses at which the regions after the model file begin. The last region ends at `end`. */
export interface Regions {
  readonly rowScales: number;
  readonly values: number;
  readonly ids: number;
  readonly places: number;
  readonly vector: number;
  readonly scratch: number;
  readonly end: number;
}

/** Sizes that the regions after the model file depend on. */
export interface RegionSizes {
  /** Offset of the model file's end from the address MODEL. */
  readonly file: number;
  /** Bytes of the rows that are kept, and of the scales of all rows in memory. */
  readonly rows: number;
  readonly rowScales: number;
  readonly values: number;
  readonly tokens: number;
  /** Number of tokens that have a place: 0 without a table in pages. */
  readonly places: number;
  /** Width of the program's output. */
  readonly width: number;
  readonly scratch: number;
}

export function regionsOf(sizes: RegionSizes): Regions {
  const rowScales = aligned(MODEL + sizes.file + sizes.rows);
  const values = aligned(rowScales + sizes.rowScales);
  const ids = aligned(values + sizes.values);
  const places = aligned(ids + 4 * sizes.tokens);
  const vector = aligned(places + 4 * sizes.places);
  const scratch = aligned(vector + 4 * sizes.width);
  return { rowScales, values, ids, places, vector, scratch, end: scratch + sizes.scratch };
}

/** Returns the size in bytes of a value with `rows` rows. */
export const valueBytes = ({ type, width }: ProgramValue, rows: number): number =>
  type === "i8" ? rowParameters(width, rows) + rows * ROW_PARAMETERS : 4 * width * rows;

/** Returns the offset of the row parameters of an i8 value, counted from the start of the value. */
export const rowParameters = (width: number, rows: number): number => aligned(width * rows);

export const aligned = (offset: number): number => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
export const pagesFor = (bytes: number): number => Math.ceil(bytes / WASM_PAGE);
