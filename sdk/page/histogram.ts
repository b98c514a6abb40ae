import { element } from "./elements.ts";
import type { FinishedRequest } from "./requests.ts";

/** Upper bounds of the columns, in ms. The last column has everything above. */
const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, Number.POSITIVE_INFINITY] as const;
const PLACES = ["edge", "region", "browser", "failed"] as const;
/** Size of the drawing, in the units of its viewBox. */
const [WIDTH, HEIGHT, BASE] = [600, 140, 118];

const shape = (name: string, attributes: Record<string, string | number>, text = ""): SVGElement => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, `${value}`);
  made.textContent = text;
  return made;
};

/** Draws the measured times of all requests, and says the same in words. */
export function showHistogram(all: readonly FinishedRequest[]): void {
  const columns = BOUNDS.map((bound, i) => {
    const within = all.filter(({ measuredMs }) => measuredMs <= bound && measuredMs > (BOUNDS[i - 1] ?? 0));
    return PLACES.map((place) => within.filter((request) => request.place === place).length);
  });
  const tallest = Math.max(1, ...columns.map((counts) => counts.reduce((sum, count) => sum + count, 0)));
  const step = WIDTH / BOUNDS.length;
  const shapes = columns.flatMap((counts, i) => {
    let top = BASE;
    const bars = counts.map((count, place) => {
      const height = ((BASE - 8) * count) / tallest;
      top -= height;
      return shape("rect", { x: i * step + 4, y: top, width: step - 8, height, class: PLACES[place] ?? "" });
    });
    const bound = BOUNDS[i] ?? 0;
    const label = bound === Number.POSITIVE_INFINITY ? "more" : `≤ ${bound}`;
    return [...bars, shape("text", { x: (i + 0.5) * step, y: HEIGHT - 6, "text-anchor": "middle" }, label)];
  });
  element("histogram", SVGElement).replaceChildren(...shapes);
  element("summary", HTMLElement).textContent = summary(all);
}

/** Describes the requests in words: `Milliseconds of 12 requests. edge: 10, median 8. region: 2, median 41.` */
function summary(all: readonly FinishedRequest[]): string {
  const parts = PLACES.flatMap((place) => {
    const times = all.filter((request) => request.place === place).map(({ measuredMs }) => measuredMs);
    if (times.length === 0) return [];
    const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
    return [`${place}: ${times.length}, median ${median.toFixed(median < 10 ? 1 : 0)}.`];
  });
  return `Milliseconds of ${all.length} ${all.length === 1 ? "request" : "requests"}. ${parts.join(" ")}`;
}
