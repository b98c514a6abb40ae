import type { Classified } from "./answers.ts";
import { element, newestIn, onSubmit, showRanked } from "./elements.ts";
import type { TaskContext } from "./tasks.ts";

/** Classifies a text or a pair: the example when the page opens, and what the user sends. An answer that arrives after a newer one is not shown. */
export function showClassification({ info, requests, answers }: TaskContext): void {
  const isPair = info.input === "pair";
  const second = element("classified-with", HTMLInputElement);
  element("classify", HTMLElement).hidden = false;
  const newest = newestIn("classify");
  element("pair", HTMLElement).hidden = !isPair;
  second.required = isPair;
  function classify(): Promise<void> {
    const text = element("classified", HTMLInputElement).value;
    const input: Classified = isPair ? [text, second.value] : text;
    return newest(
      () => requests.send("classify", (budget) => answers().classify([input], budget)),
      ({ result }) => showRanked("labels", result[0] ?? []),
    );
  }
  onSubmit("classify-form", classify);
  void classify();
}
