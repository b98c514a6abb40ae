import type { Budget } from "./answers.ts";
import type { Info } from "./connection.ts";
import { element } from "./elements.ts";

/** Budgets of the slider, in ms. */
const BUDGETS = [1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000] as const;

/** Shows a slider for budgets, whose last position is `none`. It begins with the deployment's default, which stands before that. */
export function budgetSlider({ default_latency_budget_ms: defaultMs }: Info): () => Budget {
  const slider = element("budget", HTMLInputElement);
  const budgets: readonly Budget[] = [...BUDGETS, ...(defaultMs === undefined ? [] : [undefined]), "none"];
  const chosen = () => budgets[Number(slider.value)];
  const show = () => {
    const budget = chosen();
    const text = budget === undefined ? `${defaultMs} ms (default)` : budget === "none" ? budget : `${budget} ms`;
    element("budget-text", HTMLOutputElement).textContent = text;
    slider.setAttribute("aria-valuetext", text);
  };
  slider.max = `${budgets.length - 1}`;
  slider.value = `${BUDGETS.length}`;
  slider.addEventListener("input", show);
  show();
  return chosen;
}
