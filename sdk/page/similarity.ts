import { cosine } from "./answers.ts";
import { afterTyping, element, newestIn } from "./elements.ts";
import type { TaskContext } from "./tasks.ts";
import type { TextIndex } from "./text-index.ts";

/** Maximum number of texts whose pairs are compared. */
const MAX_TEXTS = 100;

/** Compares two texts: when the page opens, and while the user types. An answer that arrives after a newer one is not shown. */
export function showSimilarity({ requests, answers }: TaskContext, texts: TextIndex): void {
  element("similarity", HTMLElement).hidden = false;
  const newest = newestIn("similarity");
  const inputs = ["first", "second"].map((id) => element(id, HTMLInputElement));
  const rank = element("similarity-rank", HTMLElement);
  /** The newest answer; undefined while there is none. */
  let latest: { readonly similarity: number; readonly version: string } | undefined;

  function compare(): Promise<void> {
    const given = inputs.map(({ value }) => value.trim());
    const ask = async () => {
      if (given.includes("")) return undefined;
      const { result, version } = await requests.send("similarity", (budget) => answers().embed(given, budget));
      return { version, similarity: cosine(result[0] ?? new Float32Array(), result[1] ?? new Float32Array()) };
    };
    return newest(ask, show, () => show(undefined));
  }

  function show(found: typeof latest): void {
    latest = found;
    element("similarity-meter", HTMLMeterElement).value = found?.similarity ?? 0;
    element("similarity-value", HTMLOutputElement).textContent = found?.similarity.toFixed(3) ?? "";
    void showRank();
  }

  /** Says how many pairs of the searched texts are less similar. */
  async function showRank(): Promise<void> {
    const mine = latest;
    rank.textContent = "";
    const index = await texts.latest();
    if (mine === undefined || mine !== latest || index?.version !== mine.version) return;
    const pairs = pairsOf(index.vectors.slice(0, MAX_TEXTS));
    const lower = pairs.filter((pair) => pair < mine.similarity).length;
    if (pairs.length > 0)
      rank.textContent = `more similar than ${lower === pairs.length ? "all" : `${lower} of the`} ${pairs.length} pairs of the texts above`;
  }

  afterTyping(inputs, compare);
  afterTyping([element("texts", HTMLTextAreaElement)], showRank);
  void compare();
}

/** Returns the cosine of each pair of vectors. */
const pairsOf = (vectors: readonly Float32Array[]): number[] =>
  vectors.flatMap((vector, i) => vectors.slice(i + 1).map((other) => cosine(vector, other)));
