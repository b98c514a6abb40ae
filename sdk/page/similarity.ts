import { cosine } from "./answers.ts";
import { afterTyping, element, failureIn } from "./elements.ts";
import type { TaskContext } from "./tasks.ts";
import type { TextIndex } from "./text-index.ts";

/** Compares two texts: when the page opens, and while the user types. An answer that arrives after a newer one is not shown. */
export function showSimilarity({ requests, answers }: TaskContext, index: TextIndex): void {
  element("similarity", HTMLElement).hidden = false;
  const report = failureIn("similarity");
  const inputs = ["first", "second"].map((id) => element(id, HTMLInputElement));
  let asked = 0;
  async function compare(): Promise<void> {
    const mine = ++asked;
    const texts = inputs.map(({ value }) => value.trim());
    if (texts.includes("")) return;
    try {
      const { result } = await requests.send("similarity", (budget) => answers().embed(texts, budget));
      if (mine !== asked) return;
      const similarity = cosine(result[0] ?? new Float32Array(), result[1] ?? new Float32Array());
      element("similarity-meter", HTMLMeterElement).value = similarity;
      element("similarity-value", HTMLOutputElement).textContent = similarity.toFixed(3);
      report();
      const pairs = pairsOf((await index.latest())?.vectors ?? []);
      if (mine !== asked || pairs.length === 0) return;
      const lower = pairs.filter((pair) => pair < similarity).length;
      element("similarity-rank", HTMLElement).textContent =
        `more similar than ${lower === pairs.length ? "all" : `${lower} of the`} ${pairs.length} pairs of the texts above`;
    } catch (error) {
      if (mine === asked) report(error);
    }
  }
  afterTyping(inputs, compare);
  void compare();
}

/** Returns the cosine of each pair of vectors. */
const pairsOf = (vectors: readonly Float32Array[]): number[] =>
  vectors.flatMap((vector, i) => vectors.slice(i + 1).map((other) => cosine(vector, other)));
