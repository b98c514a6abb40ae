import { arrange } from "./arena.ts";
import type { Layout } from "./block.ts";
import type { CheckedProgram } from "./checked-program.ts";
import { rowParameters, valueBytes } from "./memory-map.ts";
import type { Segment } from "./segments.ts";
import type { ProgramValue } from "./values.ts";

/** Tokens per block. Weights are read once for all rows of a block, and most values need memory for one block only. */
export const BLOCK = 128;

export function layoutOf(program: CheckedProgram, segments: readonly Segment[], tokens: number): Layout {
  const { steps, values, output } = program;
  const uses = values.map(() => ({ first: steps.length, last: 0, segments: new Set<Segment>() }));
  const use = (index: number, at: number, segment: Segment) => {
    const found = uses[index] as (typeof uses)[number];
    found.first = Math.min(found.first, at);
    found.last = Math.max(found.last, at);
    found.segments.add(segment);
  };
  for (const segment of segments) {
    for (const [i, { reads, writes }] of steps.slice(segment.from, segment.to).entries()) {
      for (const value of [...reads, ...writes]) use(value, segment.from + i, segment);
    }
  }
  // The caller reads the output after the last step. This counts as one more step.
  use(output, steps.length, { kind: "sequences", from: steps.length, to: steps.length + 1 });
  const isWhole = uses.map(({ segments: [used, ...others] }) => used?.kind !== "rows" || others.length > 0);
  const rows = values.map((_, i) => (isWhole[i] ? tokens : Math.min(tokens, BLOCK)));
  const lifetimes = uses.map(({ first, last, segments: used }, i) => ({
    bytes: valueBytes(values[i] as ProgramValue, rows[i] as number),
    // A value with rows for all tokens is used by every block of its segments. It needs its memory from the first step
    // of its first segment to the last step of its last segment.
    first: isWhole[i] ? Math.min(...[...used].map(({ from }) => from)) : first,
    last: isWhole[i] ? Math.max(...[...used].map(({ to }) => to - 1)) : last,
  }));
  const { offsets, bytes } = arrange(lifetimes);
  const parameters = offsets.map(
    (offset, i) => offset + rowParameters((values[i] as ProgramValue).width, rows[i] as number),
  );
  return { tokens, offsets, parameters, isWhole, bytes };
}
