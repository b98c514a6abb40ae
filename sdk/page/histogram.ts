import { element, make } from "./elements.ts";
import type { FinishedRequest } from "./requests.ts";

/** Upper bounds of the columns, in ms. The last column has everything above. */
const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, Number.POSITIVE_INFINITY] as const;
const PLACES = ["edge", "region", "browser", "mixed", "failed"] as const;

/** Draws the measured times of all requests, and says the same in words. */
export function showHistogram(all: readonly FinishedRequest[]): void {
  const counts = BOUNDS.map((bound, i) => {
    const within = all.filter(({ measuredMs }) => measuredMs <= bound && measuredMs > (BOUNDS[i - 1] ?? 0));
    return PLACES.map((place) => within.filter((request) => request.place === place).length);
  });
  const tallest = Math.max(1, ...counts.map((each) => each.reduce((sum, count) => sum + count, 0)));
  const columns = counts.map((each, i) => {
    const column = make("div", "");
    const bars = each.map((count, place) => {
      const bar = make("i", "", PLACES[place]);
      bar.style.height = `${(100 * count) / tallest}%`;
      return bar;
    });
    const stack = make("div", "");
    stack.append(...bars);
    column.append(stack, make("span", labelOf(BOUNDS[i] ?? 0)));
    return column;
  });
  element("histogram", HTMLElement).replaceChildren(...columns);
  element("summary", HTMLElement).textContent = summary(all);
}

/** Returns the median of some numbers, of which there is at least one. */
function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const [low, high] = [Math.floor((sorted.length - 1) / 2), Math.ceil((sorted.length - 1) / 2)];
  return ((sorted[low] ?? 0) + (sorted[high] ?? 0)) / 2;
}

const labelOf = (bound: number): string =>
  bound === Number.POSITIVE_INFINITY ? "more" : bound < 1000 ? `${bound}` : `${bound / 1000} s`;

/** Describes the requests in words: `12 requests. edge: 10, median 8. region: 2, median 41.` */
function summary(all: readonly FinishedRequest[]): string {
  const parts = PLACES.flatMap((place) => {
    const times = all.filter((request) => request.place === place).map(({ measuredMs }) => measuredMs);
    if (times.length === 0) return [];
    const median = medianOf(times);
    return [`${place}: ${times.length}, median ${median.toFixed(median < 10 ? 1 : 0)}.`];
  });
  return `${all.length} ${all.length === 1 ? "request" : "requests"}. ${parts.join(" ")}`;
}
