import { BertEdge } from "../../client/bert-edge.ts";
import type { Embeddings } from "../../client/embeddings.ts";
import { UnavailableError } from "../../client/errors.ts";
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

const CLIENTS = 16;
/** About 100 tokens. */
const crowdText =
  "The wheel still turns whenever the sluice is open, and people walk up from the village to listen. ".repeat(5);
const crowdBudgets = [undefined, 800, 400, 200, 100];

/** Explains the table of crowds. */
export const CROWD = `
Each row is a crowd: ${CLIENTS} requests at once, with two texts each. in time: answered
within the budget, by this clock. refused: not computed, because the answer
would have been late. Both tiers share this machine, so the region takes time
from the edge; deployed, it does not.
`;

/**
 * Sends many requests at once, with each latency budget. One thread cannot answer all of them in time, so the region answers
 * some.
 *
 * @returns a table with one row per budget
 */
export async function crowd({ edge: { url, key } }: Pick<Stack, "edge">): Promise<string> {
  const edge = new BertEdge({ baseURL: url, apiKey: key, maxRetries: 0 });
  const rows: string[][] = [];
  for (const latencyBudgetMs of crowdBudgets) {
    const count = { edge: 0, region: 0, refused: 0, inTime: 0 };
    const request = async () => {
      const start = performance.now();
      try {
        const { tier } = await edge.embed(
          [crowdText, crowdText],
          latencyBudgetMs === undefined ? {} : { latencyBudgetMs },
        );
        count[tier as "edge" | "region"]++;
        if (performance.now() - start <= (latencyBudgetMs ?? Number.POSITIVE_INFINITY)) count.inTime++;
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        count.refused++;
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, request));
    const budget = latencyBudgetMs === undefined ? "none" : `${latencyBudgetMs} ms`;
    rows.push([budget, ...[count.edge, count.region, count.refused, count.inTime].map(String)]);
  }
  return table(["budget", "edge", "region", "refused", "in time"], rows);
}
