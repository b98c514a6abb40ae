import type { Answers } from "./answers.ts";
import { budgetSlider } from "./budget.ts";
import { showCode } from "./code-examples.ts";
import { type Connection, connect, NotConnected } from "./connection.ts";
import { showCrowd } from "./crowd.ts";
import { element, failureIn } from "./elements.ts";
import { showHistogram } from "./histogram.ts";
import { overHttp } from "./over-http.ts";
import { showTable } from "./request-table.ts";
import { requests } from "./requests.ts";
import { showServed } from "./served.ts";
import { showTasks } from "./tasks.ts";

/** Returns the model that the user has chosen. The one in this browser can be chosen when it has been loaded. */
function chosenModel(connection: Connection): () => Answers {
  const deployment = overHttp(connection);
  element("browser", HTMLElement).hidden = !connection.info.artifacts;
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
      element("places", HTMLElement).hidden = false;
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
  showServed(info);
  const answers = chosenModel(connection);
  const sent = requests(budgetSlider(info), (all) => {
    showTable(all);
    showHistogram(all);
  });
  showTasks({ info, requests: sent, answers });
  showCrowd(info, sent, answers);
  showCode(connection);
  element("app", HTMLElement).hidden = false;
} catch (error) {
  element("served", HTMLElement).textContent = error instanceof NotConnected ? error.state : "This page has failed.";
  failureIn("main")(error);
}
