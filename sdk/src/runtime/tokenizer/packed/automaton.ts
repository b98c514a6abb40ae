import { type Character, CODE_MASK } from "./character.ts";
import { checkIds, invalid } from "./packed-file.ts";
import type { Numbers } from "./packed-header.ts";
import { placeOf } from "./place-of.ts";

/**
 * The vocabulary as the smallest automaton that accepts its words and no others; a word's place among all of them, in the
 * order of their codes, is the sum of what its edges skip. State 0 is the first.
 */
export interface Automaton {
  /** [states + 1]: where the edges of each state begin. */
  readonly edgeStart: Numbers;
  /** [edges]: the code that is read; ascending within a state. */
  readonly labels: Numbers;
  /** [edges]: the state that follows, after its own. */
  readonly targets: Numbers;
  /** [states]: 1 where a word may end. */
  readonly accepts: Numbers;
  /** [words]: the id of each word. */
  readonly ids: Numbers;
  /** [edges]: words of the state that come before those through this edge; not in the file. */
  readonly skips: Numbers;
}

/** A place in the automaton: what was read so far, and the words skipped on the way. */
export interface Place {
  readonly state: number;
  readonly skipped: number;
}

export const START: Place = { state: 0, skipped: 0 };

/**
 * Checks that every path ends, and at an id within the vocabulary.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openAutomaton(
  { edgeStart, labels, targets, accepts, ids }: Omit<Automaton, "skips">,
  vocabulary: number,
): Automaton {
  const [states, edges] = [accepts.length, labels.length];
  const sizes = edgeStart.length === states + 1 && targets.length === edges;
  if (!sizes || states === 0 || edgeStart[0] !== 0 || edgeStart[states] !== edges) throw damaged();
  const Counts = ids.length > 0xffff ? Uint32Array : Uint16Array;
  const [words, skips] = [new Counts(states), new Counts(edges)];
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
      count += words[target] as number;
    }
    if (begin > end || count > ids.length) throw damaged();
    words[state] = count;
  }
  if (words[0] !== ids.length) throw damaged();
  checkIds(ids, vocabulary);
  return { edgeStart, labels, targets, accepts, ids, skips };
}

const damaged = () => invalid("has a vocabulary that is damaged");

/** Where an edge with this code leads; undefined where there is none. */
export function follow(
  { edgeStart, labels, targets, skips }: Automaton,
  place: Place,
  code: number,
): Place | undefined {
  const edge = edgeOf(edgeStart, labels, place.state, code);
  return edge < 0 ? undefined : { state: targets[edge] as number, skipped: place.skipped + (skips[edge] as number) };
}

/** The longest word, from `place` on, that symbols at `at` and before `end` begin with. */
export function longestWord(
  { edgeStart, labels, targets, skips, accepts, ids }: Automaton,
  place: Place,
  symbols: ArrayLike<Character>,
  at: number,
  end: number,
): { id: number; end: number } | undefined {
  let { state, skipped } = place;
  let [word, wordEnd] = [-1, at];
  for (let i = at; i < end; i++) {
    const edge = edgeOf(edgeStart, labels, state, (symbols[i] as Character) & CODE_MASK);
    if (edge < 0) break;
    state = targets[edge] as number;
    skipped += skips[edge] as number;
    if (accepts[state] === 1) [word, wordEnd] = [skipped, i + 1];
  }
  return word < 0 ? undefined : { id: ids[word] as number, end: wordEnd };
}

/** The edge of a state with this code; -1 where there is none. */
export function edgeOf(edgeStart: Numbers, labels: Numbers, state: number, code: number): number {
  const first = edgeStart[state] as number;
  const last = (edgeStart[state + 1] as number) - 1;
  if (first > last) return -1;
  // An edge is no farther from the first and the last than its label is from theirs: many labels have hardly any gaps.
  const low = Math.max(first, last - ((labels[last] as number) - code));
  const high = Math.min(last, first + code - (labels[first] as number));
  return placeOf(labels, code, low, high);
}
