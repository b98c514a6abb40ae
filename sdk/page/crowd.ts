import type { Answered, Answers } from "./answers.ts";
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

/** Sends several requests at once, so that users see what the budget does under load. */
export function showCrowd(info: Info, requests: Requests, answers: () => Answers): void {
  const ask = (texts: readonly string[], budgetMs: number | undefined): Promise<Answered<unknown>> => {
    if (info.task === "embed") return answers().embed(texts, budgetMs);
    if ("reranker" in info.model_type) return answers().rerank(sentence, texts, budgetMs);
    return answers().classify(texts[0] ?? "", budgetMs);
  };
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
