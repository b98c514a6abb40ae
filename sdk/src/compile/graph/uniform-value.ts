import type { Value } from "./node.ts";
import { elementCount, numbersOf } from "./tensor.ts";

/** Larger constants are not searched: a constant of this size is a weight, not a number. */
const MAX_ELEMENTS = 4096;

/** Returns the number that every element of a constant has; undefined if elements differ or the value is not a constant. */
export function uniformValue({ constant }: Value): number | undefined {
  if (!constant) return undefined;
  const count = elementCount(constant.shape);
  if (count === 0 || count > MAX_ELEMENTS) return undefined;
  const [first, ...rest] = numbersOf(constant);
  return rest.every((element) => element === first) ? first : undefined;
}
