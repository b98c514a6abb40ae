import type { Answers, Classified, Scored } from "./answers.ts";
import type { Info } from "./connection.ts";
import { corpus } from "./corpus.ts";
import { element, failureIn, make, onSubmit } from "./elements.ts";
import type { Requests } from "./requests.ts";

/** Number of search results that are shown. */
const RESULTS = 5;
/** Pause after the last key before a search is sent, in ms. */
const TYPING_MS = 150;

interface TaskContext {
  readonly info: Info;
  readonly requests: Requests;
  /** The model that the user has chosen: that of the deployment, or the one in this browser. */
  readonly answers: () => Answers;
}

/** Shows the parts of the page that the deployment's model can do. */
export function showTasks(context: TaskContext): void {
  const { task, model_type } = context.info;
  if (task === "embed") {
    similarity(context);
    search(byVectors(context));
  } else if ("reranker" in model_type) search(byReranker(context));
  else if (task === "classify") classify(context);
  else {
    const note = element("other-task", HTMLElement);
    note.hidden = false;
    note.textContent = `This page has no form for the task ${task}. HTTP routes, above, lists its route.`;
  }
}

function similarity({ requests, answers }: TaskContext): void {
  element("similarity", HTMLElement).hidden = false;
  const report = failureIn("similarity");
  onSubmit("similarity-form", async () => {
    const texts = ["first", "second"].map((id) => element(id, HTMLInputElement).value);
    try {
      const { result } = await requests.send("similarity", (budget) => answers().embed(texts, budget));
      const value = cosine(result[0] ?? new Float32Array(), result[1] ?? new Float32Array());
      element("similarity-meter", HTMLMeterElement).value = value;
      element("similarity-value", HTMLOutputElement).textContent = value.toFixed(3);
      report();
    } catch (error) {
      report(error);
    }
  });
}

function classify({ info, requests, answers }: TaskContext): void {
  const isPair = info.input === "pair";
  const second = element("classified-with", HTMLInputElement);
  element("classify", HTMLElement).hidden = false;
  const report = failureIn("classify");
  element("pair", HTMLElement).hidden = !isPair;
  second.required = isPair;
  onSubmit("classify-form", async () => {
    const text = element("classified", HTMLInputElement).value;
    const input: Classified = isPair ? [text, second.value] : text;
    try {
      const { result } = await requests.send("classify", (budget) => answers().classify([input], budget));
      showRanked("labels", result[0] ?? []);
      report();
    } catch (error) {
      report(error);
    }
  });
}

/** Searches the corpus while the user types. An answer that arrives after a newer one is not shown. */
function search(find: (query: string) => Promise<readonly Scored[]>): void {
  element("search", HTMLElement).hidden = false;
  const report = failureIn("search");
  const input = element("query", HTMLInputElement);
  let typed = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    const mine = ++typed;
    timer = setTimeout(async () => {
      const query = input.value.trim();
      try {
        const found = query === "" ? [] : await find(query);
        if (mine !== typed) return;
        showRanked("found", found.slice(0, RESULTS));
        report();
      } catch (error) {
        if (mine === typed) report(error);
      }
    }, TYPING_MS);
  });
}

interface Index {
  readonly version: string;
  readonly vectors: readonly Float32Array[];
}

/** Compares the query's vector with those of the corpus. These are computed once for each version of the model. */
function byVectors({ requests, answers }: TaskContext): (query: string) => Promise<readonly Scored[]> {
  let latest: Promise<Index> | undefined;
  /** Computes the vectors of the corpus. Searches that come meanwhile wait for the same answer. */
  function computed(): Promise<Index> {
    const index = requests
      .send("index", () => answers().embed(corpus, "none"))
      .then(({ result, version }) => ({ version, vectors: result }));
    latest = index;
    // The next search tries again.
    index.catch(() => {
      if (latest === index) latest = undefined;
    });
    return index;
  }
  return async (query) => {
    const known = latest ?? computed();
    let { version, vectors } = await known;
    const answer = await requests.send("search", (budget) => answers().embed([query], budget));
    if (answer.version !== version) {
      // Another search may have asked for the new version's already.
      ({ version, vectors } = await (latest === known || !latest ? computed() : latest));
    }
    const [vector = new Float32Array()] = answer.result;
    const scored = corpus.map((label, i) => ({ label, score: cosine(vector, vectors[i] ?? new Float32Array()) }));
    return scored.sort((a, b) => b.score - a.score);
  };
}

const byReranker =
  ({ requests, answers }: TaskContext) =>
  async (query: string): Promise<readonly Scored[]> =>
    (await requests.send("rerank", (budget) => answers().rerank(query, corpus, budget))).result;

function showRanked(id: string, scored: readonly Scored[]): void {
  const items = scored.map(({ label, score }) => {
    const item = make("li", `${label} `);
    item.append(make("span", score.toFixed(3)));
    return item;
  });
  element(id, HTMLOListElement).replaceChildren(...items);
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
}
