import type { Automaton } from "../../../runtime/tokenizer/packed/automaton.ts";

/** A word as the codes of its characters, and its id. */
export interface Word {
  readonly codes: readonly number[];
  readonly id: number;
}

type AutomatonArrays = Record<Exclude<keyof Automaton, "skips">, number[]>;

interface State {
  readonly accepts: number;
  readonly edges: readonly (readonly [label: number, target: number])[];
}

/**
 * The automaton of `runtime/tokenizer/packed/automaton.ts`: states from which the same endings are read are one.
 *
 * @param words all different
 */
export function minimalAutomaton(words: readonly Word[]): AutomatonArrays {
  const sorted = words.toSorted((a, b) => compare(a.codes, b.codes));
  const states: State[] = [];
  const known = new Map<string, number>();

  /** The state from which the endings of words [low, high), which have the same first `depth` codes, are read. */
  function stateOf(low: number, high: number, depth: number): number {
    const code = (at: number) => (sorted[at] as Word).codes[depth];
    const accepts = low < high && code(low) === undefined ? 1 : 0;
    const edges: [number, number][] = [];
    for (let begin = low + accepts; begin < high; ) {
      const label = code(begin) as number;
      let end = begin + 1;
      while (end < high && code(end) === label) end++;
      edges.push([label, stateOf(begin, end, depth + 1)]);
      begin = end;
    }
    const key = `${accepts}:${edges.join(";")}`;
    const same = known.get(key);
    if (same !== undefined) return same;
    known.set(key, states.length);
    return states.push({ accepts, edges }) - 1;
  }

  const last = stateOf(0, sorted.length, 0);
  const arrays: AutomatonArrays = { edgeStart: [0], labels: [], targets: [], accepts: [], ids: [] };
  // A state is made after those that follow it; it is written before them.
  for (const { accepts, edges } of states.toReversed()) {
    for (const [label, target] of edges) {
      arrays.labels.push(label);
      arrays.targets.push(last - target);
    }
    arrays.accepts.push(accepts);
    arrays.edgeStart.push(arrays.labels.length);
  }
  arrays.ids = sorted.map(({ id }) => id);
  return arrays;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const different = a.findIndex((code, at) => code !== b[at]);
  return different < 0 ? a.length - b.length : (a[different] as number) - (b[different] ?? -1);
}
