import { graphemeClasses } from "./grapheme-classes.ts";

const { OTHER, CONTROL, CR, LF, PREPEND, L, V, T, LV, LVT } = graphemeClasses;
const { CONSONANT, PICTOGRAPHIC, SPACING_MARK, EXTEND, EXTEND_APART, LINKER, ZWJ } = graphemeClasses;

const setOf = (...classes: number[]): number => classes.reduce((set, each) => set | (1 << each), 0);

const EXTENDING = setOf(SPACING_MARK, EXTEND, EXTEND_APART, LINKER, ZWJ);
/** For each state, the classes that continue a grapheme: bit n stands for class n. */
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

/** Whether a code point of class `kind` continues a grapheme in this state. */
export const continues = (state: number, kind: number): boolean => (((FOLLOWING[state] ?? 0) >> kind) & 1) === 1;

/**
 * Returns the state of a grapheme after a code point of class `kind`. The state tells which code points may continue the
 * grapheme. It is usually the class of the last code point. Exceptions:
 *
 * - `CONSONANT` and `PICTOGRAPHIC` do not change after code points that extend them
 * - `LINKER` means a consonant and a linker
 * - `ZWJ` means a pictograph and a zero-width joiner
 * - `OTHER` follows all other code points that extend a grapheme
 */
export function stateAfter(state: number, kind: number): number {
  if (kind < SPACING_MARK) return kind;
  const conjunct = state === CONSONANT || state === LINKER;
  if (state === PICTOGRAPHIC && kind !== SPACING_MARK) return kind === ZWJ ? ZWJ : PICTOGRAPHIC;
  if (conjunct && kind === LINKER) return LINKER;
  return conjunct && (kind === EXTEND || kind === ZWJ) ? state : OTHER;
}
