import { type Layout, layoutOf } from "./layout.ts";
import type { Machine } from "./machine.ts";
import { type Regions, regionsOf } from "./memory-map.ts";
import { positionScratch } from "./position-scratch.ts";
import type { ProgramValue } from "./program.ts";

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
  const scratch = program.steps.map((step) => {
    if (step.op !== "attention") return 0;
    const { size, positions } = step;
    const own = kernels.attentionScratch(tokens, size);
    return positions ? positionScratch(own, Math.min(tokens, program.maxTokens), size, positions.buckets).end : own;
  });
  return {
    layout,
    regions: regionsOf({ file, values: layout.bytes, tokens, width, scratch: Math.max(0, ...scratch) }),
  };
}
