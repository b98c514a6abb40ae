import { Block, type PlacedBatch } from "./block.ts";
import type { CheckedProgram } from "./checked-program.ts";
import type { Kernels } from "./kernels.ts";
import { BLOCK } from "./layout.ts";
import type { Segment } from "./segments.ts";

/** A program, and the memory that it runs in. */
export interface Machine {
  readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  readonly program: CheckedProgram;
  readonly segments: readonly Segment[];
}

/** Computes a program's values for a batch. */
export function run({ memory, kernels, program, segments }: Machine, batch: PlacedBatch): void {
  const { steps, values } = program;
  const tokens = batch.starts.at(-1) as number;
  for (const { kind, from, to } of segments) {
    const rows = kind === "sequences" ? batch.starts.length - 1 : tokens;
    const most = kind === "rows" ? BLOCK : rows;
    for (let row = 0; row < rows; row += most) {
      const block = new Block({ memory, kernels, values }, batch, row, Math.min(most, rows - row));
      for (const step of steps.slice(from, to)) step.run(block);
    }
  }
}
