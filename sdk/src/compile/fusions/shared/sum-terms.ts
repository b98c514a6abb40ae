import type { Value } from "../../graph/node.ts";
import { uniformValue } from "../../graph/uniform-value.ts";

/** Words, positions and types, or masks and biases, and a few constants beside them. */
const MAX_TERMS = 8;

/** The terms of a sum, however they are associated; a number added to all stays with its term, as does what is too much. */
export function sumTerms(value: Value): Value[] {
  const terms = [value];
  for (let i = 0; i < terms.length && terms.length < MAX_TERMS; ) {
    const node = terms[i]?.producer;
    const [a, b] = node?.is("Add") ? node.inputs : [];
    if (a && b && uniformValue(a) === undefined && uniformValue(b) === undefined) terms.splice(i, 1, a, b);
    else i++;
  }
  return terms;
}
