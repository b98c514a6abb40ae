import type { Layout } from "./block.ts";
import type { CheckedProgram } from "./checked-program.ts";
import { layoutOf } from "./layout.ts";
import type { Machine } from "./machine.ts";
import { type RegionSizes, type Regions, regionsOf } from "./memory-map.ts";
import type { ProgramValue } from "./values.ts";

/** The memory that a model needs in addition to its file, for batches of up to `layout.tokens` tokens. */
export interface Room {
  readonly layout: Layout;
  readonly regions: Regions;
}

/**
 * Computes the room for batches of up to `tokens` tokens.
 *
 * @param file size of the model file in bytes
 */
export function roomFor({ kernels, program, segments }: Omit<Machine, "memory">, file: number, tokens: number): Room {
  const layout = layoutOf(program, segments, tokens);
  const { width } = program.values[program.output] as ProgramValue;
  const scratch = program.steps.map(
    ({ scratchBytes, blockScratch = 0 }) => scratchBytes?.(kernels, tokens) ?? blockScratch,
  );
  return {
    layout,
    regions: regionsOf({
      file,
      ...rowsOf(program, tokens),
      values: layout.bytes,
      tokens,
      width,
      scratch: Math.max(0, ...scratch),
    }),
  };
}

/** Sizes of what a table in pages needs: rows that are kept in memory, scales, and places of tokens. */
function rowsOf({ tables }: CheckedProgram, tokens: number): Pick<RegionSizes, "rows" | "rowScales" | "places"> {
  const { rowBytes = 0, pages } = tables.find((table) => table.pages) ?? {};
  if (!pages) return { rows: 0, rowScales: 0, places: 0 };
  return { rows: pages.cached * rowBytes, rowScales: 4 * (pages.resident + pages.cached), places: tokens };
}
