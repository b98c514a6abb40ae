import type { Answered, Answers, Classified } from "./answers.ts";
import type { Info } from "./connection.ts";
import { corpus, longText } from "./corpus.ts";
import { element, onSubmit } from "./elements.ts";
import type { Requests } from "./requests.ts";

const PAGES = 32;
const [sentence = ""] = corpus;
const textsOf: Readonly<Record<string, readonly string[]>> = {
  sentence: [sentence],
  page: [longText],
  pages: Array<string>(PAGES).fill(longText),
};

type Ask = (texts: readonly string[], budgetMs: number | undefined) => Promise<Answered<unknown>>;

/** Returns how the model is asked about texts; undefined if the page has no call for its task. */
function askerOf({ task, input, model_type }: Info, answers: () => Answers): Ask | undefined {
  if (task === "embed") return (texts, budgetMs) => answers().embed(texts, budgetMs);
  if ("reranker" in model_type) return (texts, budgetMs) => answers().rerank(sentence, texts, budgetMs);
  if (task !== "classify") return undefined;
  const inputOf = (text: string): Classified => (input === "pair" ? [text, sentence] : text);
  return (texts, budgetMs) => answers().classify(texts.map(inputOf), budgetMs);
}

/** Sends several requests at once, so that users see what the budget does under load. */
export function showCrowd(info: Info, requests: Requests, answers: () => Answers): void {
  const ask = askerOf(info, answers);
  if (!ask) return;
  element("crowd", HTMLElement).hidden = false;
  onSubmit("crowd-form", async () => {
    const texts = textsOf[element("size", HTMLSelectElement).value] ?? [];
    const count = Number(element("count", HTMLSelectElement).value);
    const state = element("crowd-state", HTMLElement);
    state.textContent = "Sending…";
    const sent = Array.from({ length: count }, () => requests.send("load", (budgetMs) => ask(texts, budgetMs)));
    const ended = await Promise.allSettled(sent);
    const counts = new Map<string, number>();
    for (const each of ended) {
      const place = each.status === "fulfilled" ? each.value.place : "failed";
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    state.textContent = [...counts].map(([place, n]) => `${place}: ${n}`).join(", ");
  });
}
