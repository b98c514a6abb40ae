import type { Answered, Answers, Budget, Classified } from "./answers.ts";
import type { Info } from "./connection.ts";
import { corpus, longText } from "./corpus.ts";
import { element, failureIn, onSubmit } from "./elements.ts";
import type { Requests } from "./requests.ts";

const PAGES = 32;
const [sentence = ""] = corpus;
const textsOf: Readonly<Record<string, readonly string[]>> = {
  sentence: [sentence],
  page: [longText],
  pages: Array<string>(PAGES).fill(longText),
};

type Ask = (texts: readonly string[], budget: Budget) => Promise<Answered<unknown>>;

/** Returns how the model is asked about texts; undefined if the page has no call for its task. */
function askerOf({ task, input, model_type }: Info, answers: () => Answers): Ask | undefined {
  if (task === "embed") return (texts, budget) => answers().embed(texts, budget);
  if ("reranker" in model_type) return (texts, budget) => answers().rerank(sentence, texts, budget);
  if (task !== "classify") return undefined;
  const inputOf = (text: string): Classified => (input === "pair" ? [text, sentence] : text);
  return (texts, budget) => answers().classify(texts.map(inputOf), budget);
}

/** Sends several requests at once, so that users see what the budget does under load. */
export function showCrowd(info: Info, requests: Requests, answers: () => Answers): void {
  const ask = askerOf(info, answers);
  if (!ask) return;
  element("crowd", HTMLElement).hidden = false;
  const report = failureIn("crowd");
  onSubmit("crowd-form", async () => {
    const texts = textsOf[element("size", HTMLSelectElement).value] ?? [];
    const count = Number(element("count", HTMLSelectElement).value);
    const state = element("crowd-state", HTMLElement);
    state.textContent = "Sending…";
    const sent = Array.from({ length: count }, () => requests.send("load", (budget) => ask(texts, budget)));
    const ended = await Promise.allSettled(sent);
    const counts = new Map<string, number>();
    for (const each of ended) {
      const place = each.status === "fulfilled" ? each.value.place : "failed";
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    report(ended.find((each) => each.status === "rejected")?.reason);
    state.textContent = [...counts].map(([place, n]) => `${place}: ${n}`).join(", ");
  });
}
