import { BertEdge, UnavailableError } from "../../client/index.ts";
import { table } from "../output.ts";
import type { Stack } from "./stack.ts";

const CLIENTS = 16;
/** About 100 tokens. */
const text =
  "The wheel still turns whenever the sluice is open, and people walk up from the village to listen. ".repeat(5);
const budgets = [undefined, 800, 400, 200, 100];

/** Explains the table of crowds. */
export const CROWD = `
Each row is a crowd: ${CLIENTS} requests at once, with two texts each. in time: answered within the budget, by this clock.
refused: not computed, because the answer would have been late. Both tiers share this machine, so the region takes time
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
  for (const latencyBudgetMs of budgets) {
    const count = { edge: 0, region: 0, refused: 0, inTime: 0 };
    const request = async () => {
      const start = performance.now();
      try {
        const { tier } = await edge.embed([text, text], latencyBudgetMs === undefined ? {} : { latencyBudgetMs });
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
