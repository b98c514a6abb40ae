import { arrange, type Lifetime } from "./arena.ts";
import type { Layout } from "./block.ts";
import type { CheckedProgram } from "./checked-program.ts";
import { rowParameters, valueBytes } from "./memory-map.ts";
import type { Segment } from "./segments.ts";
import type { ProgramValue } from "./values.ts";

/** Tokens per block. Weights are read once for all rows of a block, and most values need memory for one block only. */
export const BLOCK = 128;

/** Maximum tokens per batch. Larger batches need more memory and save almost no time. */
export const BATCH_TOKENS = 256;

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
  const places = sharedPlaces(program, { uses, isWhole, lifetimes });
  const kept = [...new Set(places)];
  const arranged = arrange(
    kept.map((place) => {
      const sharing = lifetimes.filter((_, i) => places[i] === place);
      return {
        bytes: Math.max(...sharing.map((lifetime) => lifetime.bytes)),
        first: Math.min(...sharing.map((lifetime) => lifetime.first)),
        last: Math.max(...sharing.map((lifetime) => lifetime.last)),
      };
    }),
  );
  const { bytes } = arranged;
  const offsets = places.map((place) => arranged.offsets[kept.indexOf(place)] as number);
  const parameters = offsets.map(
    (offset, i) => offset + rowParameters((values[i] as ProgramValue).width, rows[i] as number),
  );
  return { tokens, offsets, parameters, isWhole, bytes };
}

interface Use {
  /** Indices of the first and the last step that uses a value. */
  readonly first: number;
  readonly last: number;
  readonly segments: ReadonlySet<Segment>;
}

interface Uses {
  readonly uses: readonly Use[];
  readonly isWhole: readonly boolean[];
  readonly lifetimes: readonly Lifetime[];
}

/**
 * Finds values with a row for every token whose rows can take the place of an earlier value's rows, as hidden states take that of the
 * hidden states before them: of each block of a segment, all steps have read the earlier value before the first step writes the later one.
 *
 * @returns the index of the value whose place each value has: its own, or that of the first of the values that share it
 */
function sharedPlaces({ values }: CheckedProgram, { uses, isWhole, lifetimes }: Uses): number[] {
  const places = values.map((_, i) => i);
  const taken = new Set<number>();
  const order = [...uses.keys()].sort((a, b) => (uses[a] as Use).first - (uses[b] as Use).first);
  for (const later of order) {
    const {
      first,
      segments: [segment],
    } = uses[later] as Use;
    if (!isWhole[later] || segment?.kind !== "rows") continue;
    const earlier = order.find((index) => {
      const [from, to] = [values[index], values[later]] as [ProgramValue, ProgramValue];
      return (
        isWhole[index] &&
        !taken.has(index) &&
        from.type === to.type &&
        from.width === to.width &&
        from.of === to.of &&
        (uses[index] as Use).last < first &&
        (lifetimes[index] as Lifetime).last === segment.to - 1
      );
    });
    if (earlier === undefined) continue;
    taken.add(earlier);
    places[later] = places[earlier] as number;
  }
  return places;
}
