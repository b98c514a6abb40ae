import { cosine, type Scored } from "./answers.ts";
import { corpus } from "./corpus.ts";
import { afterTyping, element, newestIn, showRanked } from "./elements.ts";
import type { TaskContext } from "./tasks.ts";
import { type TextIndex, textsPerRequest } from "./text-index.ts";

/** Maximum number of requests for the vectors of the texts, or for their ranking, when the page opens. It sends up to three others. */
const MAX_REQUESTS = 2;

/** Ranks texts by their relevance for a query, best first. */
export type Rank = (query: string, texts: readonly string[]) => Promise<readonly Scored[]>;

/**
 * Searches the visible texts: when the page opens, and while the user types. They are as many as fit into a few requests, unless the
 * user gives others. An answer that arrives after a newer one is not shown.
 */
export function showSearch({ info }: TaskContext, rank: Rank): void {
  element("search", HTMLElement).hidden = false;
  const newest = newestIn("search");
  const query = element("query", HTMLInputElement);
  const own = element("texts", HTMLTextAreaElement);
  own.value = corpus.slice(0, MAX_REQUESTS * textsPerRequest(info, corpus)).join("\n");
  const texts = () => [...new Set(own.value.split("\n").map((line) => line.trim()))].filter((line) => line !== "");
  const showUnranked = () =>
    showRanked(
      "found",
      texts().map((label) => ({ label })),
    );

  function search(): Promise<void> {
    const [text, among] = [query.value.trim(), texts()];
    return newest(
      async () => (text === "" || among.length === 0 ? undefined : rank(text, among)),
      (found) => {
        if (!found) return showUnranked();
        showRanked("found", found);
        element("best", HTMLElement).textContent = `Best of ${found.length}: ${found[0]?.label}`;
      },
    );
  }

  afterTyping([query, own], search);
  for (const example of element("try", HTMLElement).querySelectorAll("button")) {
    example.addEventListener("click", () => {
      query.value = example.textContent;
      return search();
    });
  }
  showUnranked();
  void search();
}

/** Ranks texts by the cosine of their vectors to that of the query. */
export const byVectors =
  ({ requests, answers }: TaskContext, index: TextIndex): Rank =>
  async (query, texts) => {
    const [answer, known] = await Promise.all([
      requests.send("search", (budget) => answers().embed([query], budget)),
      index.of(texts),
    ]);
    const { version, vectors } = known.version === answer.version ? known : await index.newerThan(known);
    if (version !== answer.version) throw new Error("The model's version has changed. Search again.");
    const [vector = new Float32Array()] = answer.result;
    const scored = texts.map((label, i) => ({ label, score: cosine(vector, vectors[i] ?? new Float32Array()) }));
    return scored.sort((a, b) => b.score - a.score);
  };

/** Ranks texts with a cross-encoder. */
export const byReranker =
  ({ info, requests, answers }: TaskContext): Rank =>
  async (query, texts) => {
    const batchSize = textsPerRequest(
      info,
      texts.map((text) => query + text),
    );
    return (await requests.send("rerank", (budget) => answers().rerank(query, texts, budget, batchSize))).result;
  };
