import type { FixedSizes } from "../evaluate/token-batches.ts";
import { type Dim, dimProduct, type Shape, sameDim, substituteSymbols, symbolicDim } from "../graph/dim.ts";

/** Names of the sizes of texts and tokens. */
export const [BATCH, SEQUENCE] = ["batch", "sequence"];

/** Stands for a size that is not fixed. It is a prime number that no model has as a size. */
const ANY = 1_000_003;

/**
 * Finds out what a Reshape of fixed sizes does at other sizes.
 *
 * @param from shape before the Reshape, in the symbols `BATCH` and `SEQUENCE`
 * @param to shape after it, at the fixed sizes
 * @returns the shape after it in the same symbols; undefined if it could be several
 */
export function openedShape(from: Shape, to: Shape, { texts = ANY, tokens = ANY }: FixedSizes): Shape | undefined {
  const at = (dim: Dim) => substituteSymbols(dim, (name) => (name === BATCH ? texts : tokens)) as number;
  const wanted = to.map((dim) => (typeof dim === "number" ? dim : ANY));
  const shape: Dim[] = [];
  for (let i = 0; i < from.length || shape.length < wanted.length; ) {
    // The fewest axes of both that have the same number of elements.
    let [end, start] = [i + 1, shape.length];
    let [left, right] = [at(from[i] ?? 1), wanted[start] ?? 1];
    let last = start + 1;
    while (left !== right) {
      if (left < right && end < from.length) left *= at(from[end++] as Dim);
      else if (left > right && last < wanted.length) right *= wanted[last++] as number;
      else return undefined;
    }
    const group = dimProduct(from.slice(i, end));
    const opened = split(group, wanted.slice(start, last), [texts, tokens]);
    if (!opened) return undefined;
    shape.push(...opened);
    i = end;
  }
  return shape;
}

/** Splits a size into several whose numbers are known; undefined if that can be done in several ways. */
function split(size: Dim, numbers: readonly number[], fixed: readonly number[]): readonly Dim[] | undefined {
  if (typeof size === "number" || numbers.length === 1) return numbers.length === 1 ? [size] : numbers;
  const both = [BATCH, SEQUENCE].map(symbolicDim);
  const areBoth = numbers.length === 2 && numbers.every((number, i) => number === fixed[i]);
  if (areBoth && sameDim(size, dimProduct(both))) return both;
  const open = numbers.filter((number) => number !== 1);
  return open.length === 1 ? numbers.map((number) => (number === 1 ? 1 : size)) : undefined;
}
