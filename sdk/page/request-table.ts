import { element, make } from "./elements.ts";
import type { FinishedRequest } from "./requests.ts";

/** Number of requests that the table shows. */
const SHOWN = 8;

const ms = (value: number | undefined): string =>
  value === undefined ? "–" : value < 10 ? value.toFixed(1) : value.toFixed(0);

/** Makes a cell with a word, and details in a line below it. */
function cell(text: string, details: string, className = ""): HTMLTableCellElement {
  const made = make("td", "");
  made.append(make("b", text, className), make("small", details));
  return made;
}

/** Shows the newest request in a sentence, and the newest ones in a table. */
export function showTable(all: readonly FinishedRequest[]): void {
  const rows = all.slice(0, SHOWN).map(({ task, tokens, place, reason, budgetMs, predictedMs, measuredMs }) => {
    const row = make("tr", "");
    const details = [
      tokens === undefined ? "" : `${tokens} tokens`,
      budgetMs === undefined ? "" : `budget ${ms(budgetMs)}`,
    ];
    row.append(
      cell(task, details.filter((text) => text !== "").join(", ")),
      cell(place, place === "mixed" ? "edge and region" : (reason ?? ""), place),
      make("td", ms(predictedMs)),
      make("td", ms(measuredMs)),
    );
    return row;
  });
  element("requests", HTMLElement).replaceChildren(...rows);
  element("requests-card", HTMLElement).hidden = false;
  const [newest] = all;
  if (!newest) return;
  const last = element("last", HTMLElement);
  last.hidden = false;
  last.replaceChildren(
    make("b", newest.place, newest.place),
    newest.place === "failed" ? ` ${newest.reason}, after ` : " answered in ",
    make("b", `${ms(newest.measuredMs)} ms`),
    newest.predictedMs === undefined ? "" : `, ${ms(newest.predictedMs)} predicted`,
  );
}
