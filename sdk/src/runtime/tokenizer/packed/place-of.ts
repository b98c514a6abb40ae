import type { Numbers } from "./packed-header.ts";

/** Where a value is among ascending numbers from `low` to `high`; -1 where it is not. */
export function placeOf(numbers: Numbers, value: number, low: number, high: number): number {
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
