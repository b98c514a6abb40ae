import { numbersOf, type Tensor, toFloat32 } from "../graph/tensor.ts";

/** Kernels round what fills vectors and what is left over not always alike. */
const TOLERANCE = 1e-5;

/**
 * Whether `part` has the first entries of `all`, along the axes that have one for each token.
 *
 * @param counts tokens of `part`, and of `all`
 */
export function isBeginning(part: Tensor, all: Tensor, [tokens, allTokens]: readonly [number, number]): boolean {
  const fits = part.shape.every(
    (size, axis) => size === all.shape[axis] || (size === tokens && all.shape[axis] === allTokens),
  );
  if (!fits || part.shape.length !== all.shape.length || part.dtype !== all.dtype) return false;
  const [some, every] = [elementsOf(part), elementsOf(all)];
  const compare = (axis: number, at: number, allAt: number): boolean => {
    const size = part.shape[axis];
    if (size === undefined) return areEqual(some[at] as number, every[allAt] as number);
    const allSize = all.shape[axis] as number;
    for (let i = 0; i < size; i++) if (!compare(axis + 1, at * size + i, allAt * allSize + i)) return false;
    return true;
  };
  return compare(0, 0, 0);
}

/** Not numbersOf for float32: tables for long texts are large. */
const elementsOf = (found: Tensor): ArrayLike<number> =>
  found.dtype === "float32" ? toFloat32(found) : numbersOf(found);

const areEqual = (a: number, b: number): boolean => a === b || Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a));
