import type { Value } from "./node.ts";
import { elementCount, numbersOf } from "./tensor.ts";

/** Maximum number of elements to compare. A larger constant is a weight, not one repeated number. */
const MAX_ELEMENTS = 4096;

/**
 * Returns the number that all elements of a constant share. Returns undefined if the elements differ or the value is
 * not a constant.
 */
export function uniformValue({ constant }: Value): number | undefined {
  if (!constant) return undefined;
  const count = elementCount(constant.shape);
  if (count === 0 || count > MAX_ELEMENTS) return undefined;
  const [first, ...rest] = numbersOf(constant);
  return rest.every((element) => element === first) ? first : undefined;
}
