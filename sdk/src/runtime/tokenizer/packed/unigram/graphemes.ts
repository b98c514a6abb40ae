import { graphemeClasses } from "./grapheme-classes.ts";

const { OTHER, CONTROL, CR, LF, PREPEND, L, V, T, LV, LVT } = graphemeClasses;
const { CONSONANT, PICTOGRAPHIC, SPACING_MARK, EXTEND, EXTEND_APART, LINKER, ZWJ } = graphemeClasses;

const setOf = (...classes: number[]): number => classes.reduce((set, each) => set | (1 << each), 0);

const EXTENDING = setOf(SPACING_MARK, EXTEND, EXTEND_APART, LINKER, ZWJ);
/** The classes that go on with a grapheme, by what it has come to. */
const FOLLOWING = Array.from({ length: ZWJ + 1 }, () => EXTENDING);
FOLLOWING[CONTROL] = 0;
FOLLOWING[CR] = setOf(LF);
FOLLOWING[LF] = 0;
FOLLOWING[PREPEND] = ~setOf(CONTROL, CR, LF);
FOLLOWING[L] = EXTENDING | setOf(L, V, LV, LVT);
FOLLOWING[V] = FOLLOWING[LV] = EXTENDING | setOf(V, T);
FOLLOWING[T] = FOLLOWING[LVT] = EXTENDING | setOf(T);
FOLLOWING[LINKER] = EXTENDING | setOf(CONSONANT);
FOLLOWING[ZWJ] = EXTENDING | setOf(PICTOGRAPHIC);

/** Whether a code point of this class goes on with a grapheme. */
export const goesOn = (state: number, kind: number): boolean => (((FOLLOWING[state] ?? 0) >> kind) & 1) === 1;

/**
 * What a grapheme has come to: the class of its last code point; `CONSONANT` and `PICTOGRAPHIC` with what extends them too;
 * `LINKER` is a consonant linked to what follows, and `ZWJ` a pictograph joined to it.
 */
export function stateAfter(state: number, kind: number): number {
  if (kind < SPACING_MARK) return kind;
  const conjunct = state === CONSONANT || state === LINKER;
  if (state === PICTOGRAPHIC && kind !== SPACING_MARK) return kind === ZWJ ? ZWJ : PICTOGRAPHIC;
  if (conjunct && kind === LINKER) return LINKER;
  return conjunct && (kind === EXTEND || kind === ZWJ) ? state : OTHER;
}
