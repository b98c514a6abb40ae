import type { CheckedProgram, CheckedStep } from "./checked-program.ts";

/**
 * Steps that run together:
 * - `rows`: all steps for one block of tokens, then for the next block. Values between the steps stay in the L1 cache.
 * - `attention`: for whole sequences.
 * - `sequences`: for all sequences, after all tokens are done.
 */
export interface Segment {
  readonly kind: "rows" | "attention" | "sequences";
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

function kindOf({ op, writes }: CheckedStep, values: CheckedProgram["values"]): Segment["kind"] {
  if (op === "attention") return "attention";
  return values[writes[0] as number]?.of === "sequence" ? "sequences" : "rows";
}
