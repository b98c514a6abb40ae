import type { Answers, Budget } from "./answers.ts";
import { type Connection, connect, type Info, NotConnected } from "./connection.ts";
import { showCrowd } from "./crowd.ts";
import { element, failureIn } from "./elements.ts";
import { showHistogram } from "./histogram.ts";
import { overHttp } from "./over-http.ts";
import { showTable } from "./request-table.ts";
import { requests } from "./requests.ts";
import { showTasks } from "./tasks.ts";

/** Budgets of the slider, in ms. */
const BUDGETS = [1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000] as const;

/** Shows a slider for budgets, whose last position is `none`. It begins with the deployment's default, which stands before that. */
function budgetSlider({ default_latency_budget_ms: defaultMs }: Info): () => Budget {
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

/** Returns the model that the user has chosen. The one in this browser can be chosen when it has been loaded. */
function chosenModel(connection: Connection): () => Answers {
  const deployment = overHttp(connection);
  const choice = element("in-browser", HTMLInputElement);
  const button = element("load", HTMLButtonElement);
  const state = element("load-state", HTMLElement);
  let local: Answers | undefined;
  button.addEventListener("click", async () => {
    button.disabled = true;
    state.textContent = "Loading…";
    const start = performance.now();
    try {
      const { inBrowser } = await import("./in-browser.ts");
      local = await inBrowser(connection);
      state.textContent = `Loaded in ${((performance.now() - start) / 1_000).toFixed(1)} s.`;
      choice.disabled = false;
      choice.checked = true;
      choice.focus();
      button.hidden = true;
    } catch (error) {
      state.textContent = `The model cannot be loaded here: ${(error as Error).message}`;
      button.disabled = false;
    }
  });
  return () => (choice.checked && local ? local : deployment);
}

try {
  const connection = await connect();
  const { info } = connection;
  element("served", HTMLElement).textContent = `${info.model_id}@${info.model_sha}, task ${info.task}`;
  const answers = chosenModel(connection);
  const sent = requests(budgetSlider(info), (all) => {
    showTable(all);
    showHistogram(all);
  });
  showHistogram([]);
  showTasks({ info, requests: sent, answers });
  showCrowd(info, sent, answers);
  element("app", HTMLElement).hidden = false;
} catch (error) {
  element("served", HTMLElement).textContent = error instanceof NotConnected ? error.state : "This page has failed.";
  failureIn("main")(error);
}
