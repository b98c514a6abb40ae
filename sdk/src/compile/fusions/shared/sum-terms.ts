import type { Value } from "../../graph/node.ts";
import { uniformValue } from "../../graph/uniform-value.ts";

/** Maximum number of terms. Sums of embeddings, and sums of masks and biases, have fewer terms. */
const MAX_TERMS = 8;

/**
 * Returns the terms of a sum. The sum may be grouped in any way, such as (a + b) + c or a + (b + c). A term plus a
 * scalar counts as a single term.
 */
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
