import type { IntegerArray } from "./packed-arrays.ts";
import { checkIds, invalid } from "./packed-file.ts";

/**
 * The vocabulary as a minimal acyclic automaton over character codes. Each edge has the code of one character. A path
 * that begins in state 0 and ends in an accepting state is a token. The automaton has exactly the vocabulary's tokens.
 * A token's rank is its position in the list of all tokens, sorted by codes. The rank equals the sum of `skips` along
 * the token's path.
 */
export interface Automaton {
  /** [states + 1]: index of the first edge of each state. */
  readonly edgeStart: IntegerArray;
  /** [edges]: code of each edge; ascending within a state. */
  readonly labels: IntegerArray;
  /** [edges]: state that the edge leads to. Its number is larger than the number of the state where the edge starts. */
  readonly targets: IntegerArray;
  /** [states]: 1 if a token ends here, else 0. */
  readonly accepts: IntegerArray;
  /** [tokens]: token ids by rank. */
  readonly ids: IntegerArray;
  /**
   * [edges]: number of tokens that the edge skips. The paths of these tokens are the same up to the edge, but do not
   * continue with the edge. The tokens sort before all tokens that continue with the edge. The file does not have this
   * array: `openAutomaton` computes it.
   */
  readonly skips: IntegerArray;
}

/** Bits of a symbol that hold its code. Lookups ignore the other bits. */
export const CODE_MASK = 0xffff;

/** A state of the automaton, and the sum of `skips` on the path to it. */
export interface AutomatonPosition {
  readonly state: number;
  readonly skipped: number;
}

export const START: AutomatonPosition = { state: 0, skipped: 0 };

/**
 * Checks that no path is endless, and that all token ids are below the vocabulary size. Computes `skips`.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openAutomaton(
  { edgeStart, labels, targets, accepts, ids }: Omit<Automaton, "skips">,
  vocabularySize: number,
): Automaton {
  const [states, edges] = [accepts.length, labels.length];
  const sizes = edgeStart.length === states + 1 && targets.length === edges;
  if (!sizes || states === 0 || edgeStart[0] !== 0 || edgeStart[states] !== edges) throw damaged();
  const Counts = ids.length > 0xffff ? Uint32Array : Uint16Array;
  const [tokenCounts, skips] = [new Counts(states), new Counts(edges)];
  // An edge leads to a state with a larger number, so one pass from the last state to the first can count each state's
  // tokens.
  for (let state = states - 1; state >= 0; state--) {
    const begin = edgeStart[state] as number;
    const end = edgeStart[state + 1] as number;
    let count = accepts[state] as number;
    for (let edge = begin, last = -1; edge < end; edge++) {
      const label = labels[edge] as number;
      const target = targets[edge] as number;
      if (label <= last || target <= state || target >= states) throw damaged();
      last = label;
      skips[edge] = count;
      count += tokenCounts[target] as number;
    }
    if (begin > end || count > ids.length) throw damaged();
    tokenCounts[state] = count;
  }
  if (tokenCounts[0] !== ids.length) throw damaged();
  checkIds(ids, vocabularySize);
  return { edgeStart, labels, targets, accepts, ids, skips };
}

/** Returns the length of the longest path. */
export function longestPath({ edgeStart, targets, accepts }: Automaton): number {
  const depths = new Uint32Array(accepts.length);
  for (let state = accepts.length - 1; state >= 0; state--) {
    for (let edge = edgeStart[state] as number; edge < (edgeStart[state + 1] as number); edge++) {
      depths[state] = Math.max(depths[state] as number, 1 + (depths[targets[edge] as number] as number));
    }
  }
  return depths[0] as number;
}

const damaged = () => invalid("has a damaged vocabulary");

/** Follows the edge with this code; returns undefined if there is none. */
export function follow(
  { edgeStart, labels, targets, skips }: Automaton,
  { state, skipped }: AutomatonPosition,
  code: number,
): AutomatonPosition | undefined {
  const edge = edgeOf(edgeStart, labels, state, code);
  return edge < 0 ? undefined : { state: targets[edge] as number, skipped: skipped + (skips[edge] as number) };
}

/**
 * Finds the longest token that starts with the symbol at `at` and ends at or before `end` (exclusive). The search
 * starts at `position` in the automaton. Returns undefined if no token matches.
 */
export function longestToken(
  { edgeStart, labels, targets, skips, accepts, ids }: Automaton,
  position: AutomatonPosition,
  symbols: ArrayLike<number>,
  at: number,
  end: number,
): { id: number; end: number } | undefined {
  let { state, skipped } = position;
  let [rank, tokenEnd] = [-1, at];
  for (let i = at; i < end; i++) {
    const edge = edgeOf(edgeStart, labels, state, (symbols[i] as number) & CODE_MASK);
    if (edge < 0) break;
    state = targets[edge] as number;
    skipped += skips[edge] as number;
    if (accepts[state] === 1) [rank, tokenEnd] = [skipped, i + 1];
  }
  return rank < 0 ? undefined : { id: ids[rank] as number, end: tokenEnd };
}

/** Returns the index of a state's edge with this code; -1 if there is none. */
export function edgeOf(edgeStart: IntegerArray, labels: IntegerArray, state: number, code: number): number {
  const first = edgeStart[state] as number;
  const last = (edgeStart[state + 1] as number) - 1;
  if (first > last) return -1;
  // The labels are sorted and all different. So the label `code` is at most `code - firstLabel` edges after the first
  // edge, and at most `lastLabel - code` edges before the last edge. In most states, few edges remain to be searched.
  const low = Math.max(first, last - ((labels[last] as number) - code));
  const high = Math.min(last, first + code - (labels[first] as number));
  return indexOfSorted(labels, code, low, high);
}

/**
 * Searches `numbers`, which ascend, from the index `low` to the index `high` (inclusive). Returns the index of `value`;
 * -1 if none of these numbers equals it.
 */
export function indexOfSorted(numbers: IntegerArray, value: number, low: number, high: number): number {
  let [first, last] = [low, high];
  while (first <= last) {
    const middle = (first + last) >> 1;
    const at = numbers[middle] as number;
    if (at === value) return middle;
    if (at < value) first = middle + 1;
    else last = middle - 1;
  }
  return -1;
}
