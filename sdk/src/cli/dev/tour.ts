import { BertEdge, type Embeddings } from "../../client/index.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { table } from "../output.ts";
import type { Stack } from "./stack.ts";

const paragraph =
  "The mill stands where the brook leaves the wood. It has ground no flour for sixty years, yet the wheel still turns " +
  "whenever the sluice is open, and on summer evenings people walk up from the village to listen to it. The miller's " +
  "granddaughter keeps bees in the orchard behind the house and sells the honey at the gate. ";

/** Texts of increasing length: from a few tokens to nearly the maximum length of the default model. */
const texts = ["Where is the mill?", paragraph.slice(0, 120), paragraph, paragraph.repeat(3)];
/** Cuts texts that are longer than the model takes. */
const CUT = { truncate: true };
const budgets = ["none", 200, 20, 4] as const;

/**
 * Embeds each text with each latency budget. Uses the typed client, as an application would.
 *
 * @returns a table with one row per text and budget. If there is a region, the last column compares two vectors of the
 *   text, one from the edge and one from the region, by their cosine.
 */
export async function tour({ edge: { url, key }, region: atRegion }: Pick<Stack, "edge" | "region">): Promise<string> {
  const edge = new BertEdge({ baseURL: url, apiKey: key });
  const region = atRegion && new BertEdge({ baseURL: atRegion.url, apiKey: atRegion.key });
  const headings = ["tokens", "budget", "tier", "reason", "predicted", "measured"];
  const rows: string[][] = [];
  for (const text of texts) {
    // Without a budget, an idle edge computes the vector itself. The region's vector therefore comes from a direct
    // request to the region.
    const agreement = region && [
      cosine(vector(await edge.embed(text, CUT)), vector(await region.embed(text, CUT))).toFixed(6),
    ];
    for (const latencyBudgetMs of budgets) {
      const start = performance.now();
      const answer = await edge.embed(text, { ...CUT, latencyBudgetMs });
      const measured = performance.now() - start;
      rows.push([
        String(answer.tokens),
        latencyBudgetMs === "none" ? latencyBudgetMs : `${latencyBudgetMs} ms`,
        answer.tier,
        String(answer.reason),
        `${answer.predictedMs?.toFixed(1)} ms`,
        `${measured.toFixed(1)} ms`,
        ...(agreement ?? []),
      ]);
    }
  }
  return table(region ? [...headings, "cosine edge↔region"] : headings, rows);
}

const vector = ({ embeddings }: Embeddings): Float32Array => embeddings[0] ?? new Float32Array();
