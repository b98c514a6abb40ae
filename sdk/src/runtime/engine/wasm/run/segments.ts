import type { Program, Step } from "./program.ts";

/**
 * Steps that run together: `rows` one after the other for some tokens, then for the next, so that what they hand on stays in
 * the nearest cache; `attention` for whole sequences; `sequences` when all tokens are done.
 */
export interface Segment {
  readonly kind: "rows" | "attention" | "sequences";
  /** Of the first step, and of the one after the last. */
  readonly from: number;
  readonly to: number;
}

export function segmentsOf({ steps, values }: Program): Segment[] {
  const segments: Segment[] = [];
  steps.forEach((step, at) => {
    const kind = kindOf(step, values);
    const last = segments.at(-1);
    if (last?.kind === kind) segments[segments.length - 1] = { ...last, to: at + 1 };
    else segments.push({ kind, from: at, to: at + 1 });
  });
  return segments;
}

function kindOf(step: Step, values: Program["values"]): Segment["kind"] {
  if (step.op === "attention") return "attention";
  return values[step.op === "rotate" ? step.x.value : step.out]?.of === "sequence" ? "sequences" : "rows";
}
