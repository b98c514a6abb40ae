import type { Automaton } from "../../../runtime/tokenizer/packed/automaton.ts";

/** A token: the codes of its characters, and its id. */
export interface EncodedToken {
  readonly codes: readonly number[];
  readonly id: number;
}

type AutomatonArrays = Record<Exclude<keyof Automaton, "skips">, number[]>;

interface State {
  readonly accepts: number;
  readonly edges: readonly (readonly [label: number, target: number])[];
}

/**
 * Builds the automaton of `runtime/tokenizer/packed/automaton.ts`. Merges states that accept the same token endings.
 *
 * @param tokens tokens that are all different
 */
export function minimalAutomaton(tokens: readonly EncodedToken[]): AutomatonArrays {
  const sorted = tokens.toSorted((a, b) => compare(a.codes, b.codes));
  const states: State[] = [];
  const known = new Map<string, number>();

  /**
   * Returns the state for the sorted tokens from `low` to `high - 1`, after their first `depth` codes. These codes are
   * the same in all of these tokens. The state accepts the remaining codes of each token.
   */
  function stateOf(low: number, high: number, depth: number): number {
    const code = (at: number) => (sorted[at] as EncodedToken).codes[depth];
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
  // In `states`, each state comes after the states that its edges lead to. The arrays have the reverse order, so that
  // state 0 is the start.
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

/** Numbers all characters of the texts, from 1 on. */
export function codesOfCharacters(texts: readonly string[]): Map<string, number> {
  const characters = new Set(texts.flatMap((text) => Array.from(text)));
  return new Map([...characters].sort().map((character, i) => [character, i + 1]));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    if (a[at] !== b[at]) return (a[at] as number) - (b[at] as number);
  }
  return a.length - b.length;
}
