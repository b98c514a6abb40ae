import { element, make } from "./elements.ts";
import type { FinishedRequest } from "./requests.ts";

/** Number of requests that the table shows. */
const SHOWN = 12;

const ms = (value: number | undefined): string =>
  value === undefined ? "–" : value < 10 ? value.toFixed(1) : value.toFixed(0);

/** Shows the newest requests. */
export function showTable(all: readonly FinishedRequest[]): void {
  const rows = all.slice(0, SHOWN).map((request) => {
    const { task, tokens, place, reason, budgetMs, predictedMs, measuredMs } = request;
    const cells = [task, `${tokens ?? "–"}`, place, reason ?? "–", ms(budgetMs), ms(predictedMs), ms(measuredMs)];
    const row = document.createElement("tr");
    row.append(...cells.map((text, column) => make("td", text, column === 2 ? place : "")));
    return row;
  });
  element("requests", HTMLElement).replaceChildren(...rows);
}
