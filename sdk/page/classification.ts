import type { Classified } from "./answers.ts";
import { element, failureIn, onSubmit, showRanked } from "./elements.ts";
import type { TaskContext } from "./tasks.ts";

/** Classifies a text or a pair: the example when the page opens, and what the user sends. */
export function showClassification({ info, requests, answers }: TaskContext): void {
  const isPair = info.input === "pair";
  const second = element("classified-with", HTMLInputElement);
  element("classify", HTMLElement).hidden = false;
  const report = failureIn("classify");
  element("pair", HTMLElement).hidden = !isPair;
  second.required = isPair;
  async function classify(): Promise<void> {
    const text = element("classified", HTMLInputElement).value;
    const input: Classified = isPair ? [text, second.value] : text;
    try {
      const { result } = await requests.send("classify", (budget) => answers().classify([input], budget));
      showRanked("labels", result[0] ?? []);
      report();
    } catch (error) {
      report(error);
    }
  }
  onSubmit("classify-form", classify);
  void classify();
}
