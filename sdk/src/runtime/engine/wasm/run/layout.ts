import { arrange } from "./arena.ts";
import { aligned } from "./memory-map.ts";
import type { Program, ProgramValue, Step } from "./program.ts";
import type { Segment } from "./segments.ts";
import { usesOf } from "./step-uses.ts";

/** Tokens whose rows are computed together: what they need is room for so many, and weights are read once for them. */
export const BLOCK = 128;

/** Where the values of a program are, for batches of so many tokens and sequences. */
export interface Layout {
  readonly tokens: number;
  /** Of every value's first row; bytes are followed by their rows' parameters, at `parameters`. */
  readonly offsets: readonly number[];
  readonly parameters: readonly number[];
  /** Whether a value has rows for all tokens, or for a block alone. */
  readonly isWhole: readonly boolean[];
  readonly bytes: number;
}

/** {scale, zero point, sum, nothing}, of a row of bytes. */
const PARAMETER_BYTES = 16;

/** @param tokens of a batch, and at most so many sequences */
export function layoutOf(program: Program, segments: readonly Segment[], tokens: number): Layout {
  const { steps, values, output } = program;
  const uses = values.map(() => ({ first: steps.length, last: 0, segments: new Set<Segment>() }));
  const use = (index: number, at: number, segment: Segment) => {
    const found = uses[index] as (typeof uses)[number];
    found.first = Math.min(found.first, at);
    found.last = Math.max(found.last, at);
    found.segments.add(segment);
  };
  for (const segment of segments) {
    for (let at = segment.from; at < segment.to; at++) {
      const { reads = [], writes = [] } = usesOf(steps[at] as Step, program) ?? {};
      for (const { value } of [...reads, ...writes]) use(value, at, segment);
    }
  }
  use(output, steps.length, { kind: "sequences", from: steps.length, to: steps.length + 1 });
  const isWhole = uses.map(({ segments: [used, ...others] }) => used?.kind !== "rows" || others.length > 0);
  const rows = values.map((_, i) => (isWhole[i] ? tokens : Math.min(tokens, BLOCK)));
  const lifetimes = uses.map(({ first, last, segments: used }, i) => ({
    bytes: bytesOf(values[i] as ProgramValue, rows[i] as number),
    // A value for all tokens is written block by block: what the segment hands on within a block must not lie there.
    first: isWhole[i] ? Math.min(...[...used].map(({ from }) => from)) : first,
    last: isWhole[i] ? Math.max(...[...used].map(({ to }) => to - 1)) : last,
  }));
  const { offsets, bytes } = arrange(lifetimes);
  const parameters = offsets.map(
    (offset, i) => offset + aligned((rows[i] as number) * (values[i] as ProgramValue).width),
  );
  return { tokens, offsets, parameters, isWhole, bytes };
}

const bytesOf = ({ type, width }: ProgramValue, rows: number): number =>
  type === "i8" ? aligned(rows * width) + rows * PARAMETER_BYTES : rows * width * 4;
