import type { Layout } from "./block.ts";
import { layoutOf } from "./layout.ts";
import type { Machine } from "./machine.ts";
import { type Regions, regionsOf } from "./memory-map.ts";
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
    regions: regionsOf({ file, values: layout.bytes, tokens, width, scratch: Math.max(0, ...scratch) }),
  };
}
