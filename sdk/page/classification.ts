import type { Classified } from "./answers.ts";
import { element, failureIn, onSubmit, showRanked } from "./elements.ts";
import type { TaskContext } from "./tasks.ts";

/** Classifies a text or a pair: the example when the page opens, and what the user sends. An answer that arrives after a newer one is not shown. */
export function showClassification({ info, requests, answers }: TaskContext): void {
  const isPair = info.input === "pair";
  const second = element("classified-with", HTMLInputElement);
  element("classify", HTMLElement).hidden = false;
  const report = failureIn("classify");
  element("pair", HTMLElement).hidden = !isPair;
  second.required = isPair;
  let asked = 0;
  async function classify(): Promise<void> {
    const mine = ++asked;
    const text = element("classified", HTMLInputElement).value;
    const input: Classified = isPair ? [text, second.value] : text;
    try {
      const { result } = await requests.send("classify", (budget) => answers().classify([input], budget));
      if (mine !== asked) return;
      showRanked("labels", result[0] ?? []);
      report();
    } catch (error) {
      if (mine === asked) report(error);
    }
  }
  onSubmit("classify-form", classify);
  void classify();
}
