import type { CheckedProgram, CheckedStep } from "./checked-program.ts";

/**
 * Consecutive steps of one kind. The kind says how they run:
 * - `rows`: all steps run for one block of tokens, then all steps run for the next block. The values that one step
 *   writes and the next step reads stay in the cache.
 * - `whole`: each step runs for whole sequences, as attention does.
 * - `sequences`: each step runs for all sequences at once, and writes one row per sequence.
 */
export interface Segment {
  readonly kind: "rows" | "whole" | "sequences";
  /** Index of the first step. */
  readonly from: number;
  /** Index after the last step. */
  readonly to: number;
}

export function segmentsOf({ steps, values }: Pick<CheckedProgram, "steps" | "values">): Segment[] {
  const segments: Segment[] = [];
  steps.forEach((step, at) => {
    const kind = kindOf(step, values);
    const last = segments.at(-1);
    if (last?.kind === kind) segments[segments.length - 1] = { ...last, to: at + 1 };
    else segments.push({ kind, from: at, to: at + 1 });
  });
  return segments;
}

function kindOf({ scratchBytes, writes }: CheckedStep, values: CheckedProgram["values"]): Segment["kind"] {
  if (scratchBytes) return "whole";
  return values[writes[0] as number]?.of === "sequence" ? "sequences" : "rows";
}
